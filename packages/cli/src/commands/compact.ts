import { type CompactionEvent, compactThread, configuredWriter, type ThreadOutcome } from "palimpsest/compaction";
import { requestWindow, summarizationForThreads } from "palimpsest/config";
import { integer } from "../command/arguments.ts";
import type { Context, Run } from "../command/command.ts";
import { compactionLog } from "../home/compaction-log.ts";
import { missingThread, withThread } from "../home/home.ts";
import { loadSettings } from "../home/settings.ts";
import { grouped } from "../terminal/grouped.ts";

export const run: Run = async (input, context) => {
  const thread = input.positionals[0]!;
  const { focus, "dry-run": dryRun } = input.options;
  const given = integer(input, "window", { min: 1 });
  const outcome = await withThread(context, thread, async (deps) => {
    const config = await loadSettings(context);
    const log = compactionLog(config, context);
    const progress = reporter(context);
    const settings = summarizationForThreads(config.summarization);
    return compactThread(
      deps,
      thread,
      {
        cause: "manual",
        dryRun: dryRun === true,
        signal: context.signal,
        ...(typeof focus === "string" && { focus }),
      },
      {
        home: context.home,
        policy: settings.policy,
        window: requestWindow(config, given),
        writer: configuredWriter(config, settings, { store: deps.store, thread }),
        on(event) {
          log(event);
          progress(event);
        },
      },
    );
  });
  return report(thread, outcome, context, dryRun === true);
};

async function report(thread: string, outcome: ThreadOutcome, context: Context, dryRun: boolean): Promise<number> {
  if (outcome.kind === "missing") throw missingThread(context, thread);
  if (outcome.kind === "unchanged" && outcome.reason === "aborted") context.signal.throwIfAborted();
  if (context.format === "json") await context.output.json({ thread, ...outcome, ...(dryRun && { dryRun }) });
  else await context.output.line(described(thread, outcome, dryRun));
  return outcome.kind === "unchanged" && FAILED.has(outcome.reason) ? 1 : 0;
}

const FAILED: ReadonlySet<string> = new Set(["busy", "no-history"]);

function described(thread: string, outcome: Exclude<ThreadOutcome, { kind: "missing" }>, dryRun: boolean): string {
  if (outcome.kind === "unchanged") return `${thread} is as it was (${outcome.reason}): ${outcome.detail}.`;
  const { hidden, standing, rung, tokensBefore, tokensAfter, messages, archivePath, shortfall, ms } = outcome;
  const what =
    hidden === null ? "shortened" : `records ${hidden[0]} to ${hidden[1]} are behind a summary${but(standing)}`;
  return [
    `${dryRun ? "Would compact" : "Compacted"} ${thread} (${rung}): ${grouped(tokensBefore)} -> ${grouped(tokensAfter)} tokens, ${messages.length} messages, ${ms} ms; ${what}.`,
    ...(archivePath === null || dryRun
      ? []
      : [`Word for word in ${archivePath}. "palimpsest undo ${thread}" takes it back.`]),
    ...(shortfall === null ? [] : [`Note: ${shortfall}.`]),
  ].join("\n");
}

function but(standing: readonly number[]): string {
  if (standing.length === 0) return "";
  return `, except ${standing.join(" and ")}, which still ${standing.length === 1 ? "stands" : "stand"}`;
}

/** What takes long is the summarizer's work; without a model there is hardly time to read it. */
function reporter({ output, verbose }: Context): (event: CompactionEvent) => void {
  return (event) => {
    if (verbose || (!process.stderr.isTTY && event.type !== "summary-progress")) return;
    if (event.type === "compaction-check") output.progress(`${grouped(event.tokens)} tokens ...`);
    if (event.type === "compaction-start") output.progress(`summarizing ${event.hide} messages ...`);
    if (event.type === "summary-progress") output.progress(`summarized ${event.done} of ${event.of}`);
  };
}
