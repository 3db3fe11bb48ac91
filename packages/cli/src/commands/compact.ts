import { compact } from "palimpsest/internal/acting";
import { eventLog } from "palimpsest/internal/assistant";
import type { ResultOf } from "palimpsest/internal/operation";
import { foldRange } from "palimpsest/internal/shaping";
import type { Input } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { choosing, performing } from "../home/home.ts";
import { compactionProgress } from "../home/talk.ts";
import { counted, duration, grouped } from "../terminal/output.ts";
import { cutLines } from "./acts.ts";

interface CompactCommandOptions {
  readonly "dry-run"?: boolean;
  readonly focus?: string;
  readonly window?: number;
  readonly from?: number;
  readonly until?: number;
}

export const { run, remote } = choosing<CompactCommandOptions>(({ options: { from, until } }) =>
  from === undefined && until === undefined ? compacting : foldingRange,
);

const foldingRange = performing(foldRange, {
  input({
    positionals,
    options: { "dry-run": dryRun = false, from, until, focus, window },
  }: Input<CompactCommandOptions>) {
    if (focus !== undefined || window !== undefined)
      throw new UsageError("--focus and --window belong to a whole compaction; --from and --until take none of them.");
    return { thread: positionals[0]!, from, until, dryRun };
  },
  show: cutLines,
});

const compacting = performing(compact, {
  input({ positionals, options: { "dry-run": dryRun = false, focus, window } }: Input<CompactCommandOptions>) {
    return { thread: positionals[0]!, dryRun, focus, window };
  },
  show: described,
  failed: (outcome) => outcome.kind === "unchanged" && FAILED.has(outcome.reason),
  async options(context, home) {
    const log = eventLog(await home.settings(), { line: context.output.note, verbose: context.verbose });
    const progress = compactionProgress(context);
    return {
      onCompaction(event) {
        log(event);
        progress(event);
      },
    };
  },
});

const FAILED: ReadonlySet<string> = new Set(["busy", "no-history"]);

function described(outcome: ResultOf<typeof compact>): string {
  const { thread: threadId, dryRun = false } = outcome;
  if (outcome.kind === "unchanged") return `${threadId} is as it was (${outcome.reason}): ${outcome.detail}.`;
  const { hidden, standing, rung, tokensBefore, tokensAfter, messages, archivePath, shortfall, ms } = outcome;
  const what =
    hidden === null ? "shortened" : `records ${hidden[0]} to ${hidden[1]} are behind a summary${but(standing)}`;
  return [
    `${dryRun ? "Would compact" : "Compacted"} ${threadId} (${rung}): the prompt has ${grouped(tokensAfter)} tokens instead of ${grouped(tokensBefore)}, in ${counted(messages.length, "message")}; ${what} (${duration(ms)}).`,
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
