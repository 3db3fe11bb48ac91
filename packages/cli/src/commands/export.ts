import { open } from "node:fs/promises";
import { type ExportFormat, exportThread } from "palimpsest/import";
import { fullPage } from "palimpsest/internal/full-page";
import { EXPORT_FORMATS } from "palimpsest/internal/import";
import type { CommandRun } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { withThread } from "../home/home.ts";
import { masked } from "../terminal/messages.ts";

interface ExportCommandOptions {
  readonly as?: string;
  readonly out?: string;
  readonly mask?: boolean;
  readonly full?: boolean;
}

export const run: CommandRun<ExportCommandOptions> = async ({ positionals, options }, context) => {
  const threadId = positionals[0]!;
  const { output, signal } = context;
  const { out } = options;
  const format = formatOf(options.as, out);
  if (options.mask === true && format === "jsonl")
    throw new UsageError("--mask is for people: JSON lines hold the messages as they are. Export Markdown or a page.");
  if (options.full === true && format !== "html")
    throw new UsageError("--full is for pages: add --as html, or an --out that ends with .html.");
  await withThread(context, threadId, async (home) => {
    const whole =
      options.full === true ? fullPage(home, threadId, { signal }) : exportThread(home.store, threadId, format);
    const pieces = options.mask === true ? masked(whole, exportThread(home.store, threadId, "jsonl")) : whole;
    if (out === undefined) return output.stream(pieces, { signal, as: format === "jsonl" ? "exact" : "text" });
    await writeNew(out, pieces, signal);
    output.note(`Wrote ${out}.`);
  });
  return 0;
};

/** By its name, by the file's, else Markdown. */
function formatOf(wanted: string | undefined, out: string | undefined): ExportFormat {
  const name = wanted ?? /\.([a-z]+)$/i.exec(out ?? "")?.[1]?.toLowerCase() ?? "markdown";
  const format = { md: "markdown", htm: "html", json: "jsonl" }[name] ?? name;
  const match = EXPORT_FORMATS.find((one) => one === format);
  if (match !== undefined) return match;
  if (wanted === undefined) return "markdown";
  throw new UsageError(`--as must be one of ${EXPORT_FORMATS.join(", ")}, not "${wanted}".`);
}

/** For its owner alone, and never over a file that is there. */
async function writeNew(path: string, pieces: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  const file = await open(path, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EEXIST") throw new Failure("exists", `${path} exists already: choose another --out.`);
    throw error;
  });
  try {
    for await (const piece of pieces) {
      signal.throwIfAborted();
      await file.write(piece);
    }
  } finally {
    await file.close();
  }
}
