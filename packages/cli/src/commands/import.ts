import { type ImportOutcome, type ImportProgress, importFile, type Problem } from "palimpsest/import";
import type { Context, Run } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { busy, requireThreadId, withHome } from "../home/home.ts";

interface Options {
  readonly thread?: string;
  readonly learn?: boolean;
  readonly "skip-invalid"?: boolean;
  readonly agent?: string;
}

export const run: Run<Options> = async ({ positionals, options }, context) => {
  const path = positionals[0]!;
  const { thread, agent } = options;
  if (thread === undefined) throw new UsageError("--thread is missing. Usage: palimpsest import FILE --thread T");
  requireThreadId(thread);
  const { title } = await context.located.settings();
  const outcome = await withHome(context, (deps) =>
    importFile(deps, path, {
      thread,
      title: title.enabled ? { maxWords: title.max_words } : null,
      ...(agent !== undefined && { agent }),
      onInvalid: options["skip-invalid"] ? "skip" : "refuse",
      memory: options.learn ? "learn" : "skip",
      onProgress: reporter(context),
      signal: context.signal,
    }),
  );
  return report(path, thread, outcome, context);
};

async function report(path: string, thread: string, outcome: ImportOutcome, context: Context): Promise<number> {
  const { output } = context;
  switch (outcome.kind) {
    case "imported": {
      const { threads, imported, skipped, dialect, invalid, warnings } = outcome;
      for (const problem of invalid) output.note(`skipped: ${located(path, problem)}`);
      for (const warning of warnings) output.note(`warning: ${located(path, warning)}`);
      if (context.format === "json")
        await output.json({
          thread,
          imported,
          skipped,
          dialect,
          threads,
          invalid,
          warnings,
        });
      else {
        const into =
          threads.length === 1
            ? thread
            : `${threads.length} threads, ${threads[0]!.thread} to ${threads.at(-1)!.thread}`;
        await output.line(`Imported ${imported} ${dialect} messages into ${into}; ${skipped} lines skipped.`);
      }
      return 0;
    }
    case "invalid": {
      for (const problem of outcome.problems.slice(1, SHOWN)) output.note(located(path, problem));
      if (outcome.problems.length > SHOWN) output.note(`... and ${outcome.problems.length - SHOWN} more`);
      const rest = outcome.problems.length > 1 ? ` (${outcome.problems.length} problems in all)` : "";
      throw new Failure(
        "invalid",
        `${located(path, outcome.problems[0]!)}${rest}. Nothing was imported: repair the file, or pass --skip-invalid.`,
      );
    }
    case "empty":
      throw new Failure("empty", `${path} holds no message (${outcome.skipped} lines skipped). Nothing was imported.`);
    case "bad-thread-id":
      throw new UsageError(`Not a thread id: ${outcome.problem}.`);
    case "unreadable":
      throw new Failure("unreadable", `${outcome.problem}. Nothing was imported.`);
    case "exists":
      throw new Failure(
        "exists",
        `Thread "${outcome.thread}" exists already. Nothing was imported: choose another --thread, or "palimpsest threads delete ${outcome.thread}".`,
      );
    case "busy":
      throw busy(outcome.thread);
  }
}

/** How many problems are listed on stderr. */
const SHOWN = 20;

function located(path: string, { place, message }: Problem): string {
  return `${path}${place === "" ? "" : `, ${place}`}: ${message}`;
}

/** At a terminal at once, elsewhere only when it takes long. */
function reporter({ output }: Context): (progress: ImportProgress) => void {
  let last = Date.now();
  return ({ phase, done }) => {
    const now = Date.now();
    const wait = process.stderr.isTTY ? 200 : 5000;
    if (now - last < wait || done === 1) return;
    last = now;
    output.progress(`${phase} ${Math.round(done * 100)} %`);
  };
}
