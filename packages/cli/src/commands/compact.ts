import type { ThreadOutcome } from "palimpsest/compaction";
import { compactInHome, eventLog } from "palimpsest/internal/assistant";
import { compactDocument } from "palimpsest/internal/documents";
import type { Context, Printing, Remote, Run } from "../command/command.ts";
import { threadPath } from "../command/server.ts";
import { compactionProgress } from "../home/compaction-progress.ts";
import { missingThread, withThread } from "../home/home.ts";
import { duration } from "../terminal/duration.ts";
import { grouped } from "../terminal/grouped.ts";

interface Options {
  readonly "dry-run"?: boolean;
  readonly focus?: string;
  readonly window?: number;
}

export const run: Run<Options> = async ({ positionals, options }, context) => {
  const threadId = positionals[0]!;
  const { focus, window } = options;
  const dryRun = options["dry-run"] === true;
  const outcome = await withThread(context, threadId, async (home) => {
    const log = eventLog(await home.settings(), { line: context.output.note, verbose: context.verbose });
    const progress = compactionProgress(context);
    return compactInHome(home, threadId, {
      dryRun,
      focus,
      window,
      signal: context.signal,
      on(event) {
        log(event);
        progress(event);
      },
    });
  });
  return report(threadId, outcome, context, dryRun);
};

async function report(threadId: string, outcome: ThreadOutcome, context: Context, dryRun: boolean): Promise<number> {
  if (outcome.kind === "missing") throw missingThread(context, threadId);
  if (outcome.kind === "unchanged" && outcome.reason === "aborted") context.signal.throwIfAborted();
  return show(compactDocument(threadId, outcome, { dryRun }), context);
}

export const remote: Remote<Options> = async ({ positionals, options }, context) => {
  const { focus, window } = options;
  const body = { dryRun: options["dry-run"] === true, focus, window };
  return show(await context.server.send("POST", threadPath(positionals[0]!, "/compact"), body), context);
};

async function show(document: ReturnType<typeof compactDocument>, { format, output }: Printing): Promise<number> {
  if (format === "json") await output.json(document);
  else await output.line(described(document.thread, document, document.dryRun === true));
  return document.kind === "unchanged" && FAILED.has(document.reason) ? 1 : 0;
}

const FAILED: ReadonlySet<string> = new Set(["busy", "no-history"]);

function described(threadId: string, outcome: Exclude<ThreadOutcome, { kind: "missing" }>, dryRun: boolean): string {
  if (outcome.kind === "unchanged") return `${threadId} is as it was (${outcome.reason}): ${outcome.detail}.`;
  const { hidden, standing, rung, tokensBefore, tokensAfter, messages, archivePath, shortfall, ms } = outcome;
  const what =
    hidden === null ? "shortened" : `records ${hidden[0]} to ${hidden[1]} are behind a summary${but(standing)}`;
  return [
    `${dryRun ? "Would compact" : "Compacted"} ${threadId} (${rung}): ${grouped(tokensBefore)} -> ${grouped(tokensAfter)} tokens, ${messages.length} messages, ${duration(ms)}; ${what}.`,
    ...(archivePath === null || dryRun
      ? []
      : [`Word for word in ${archivePath}. "palimpsest undo ${threadId}" takes it back.`]),
    ...(shortfall === null ? [] : [`Note: ${shortfall}.`]),
  ].join("\n");
}

function but(standing: readonly number[]): string {
  if (standing.length === 0) return "";
  return `, except ${standing.join(" and ")}, which still ${standing.length === 1 ? "stands" : "stand"}`;
}
