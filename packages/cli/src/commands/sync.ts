import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { FORMATS, folderChanges, type SyncRound, syncFolder } from "palimpsest/internal/import";
import type { Context, Run } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { withHome } from "../home/home.ts";
import { counted } from "../terminal/counted.ts";

interface Options {
  readonly format?: string;
  readonly watch?: boolean;
  readonly every?: number;
  readonly learn?: boolean;
}

export const run: Run<Options> = async ({ positionals, options }, context) => {
  const { folder, format } = await followed(positionals[0]!, options.format);
  const { title } = await context.located.settings();
  const { signal } = context;
  return withHome(context, async (home) => {
    const seen = new Map<string, string>();
    const told = new Set<string>();
    const round = async (): Promise<void> => {
      const synced = await syncFolder(
        folder,
        {
          deps: home,
          format,
          title: title.enabled ? { maxWords: title.max_words } : null,
          memory: options.learn === true ? "learn" : "skip",
          signal,
        },
        seen,
      );
      if (options.watch !== true || synced.messages > 0) await report(synced, told, context);
    };
    await round();
    if (options.watch !== true) return 0;
    context.output.note(`Following ${folder}; Ctrl-C ends it.`);
    const pollMs = (options.every ?? 5) * 1000;
    for await (const _ of folderChanges(folder, { pollMs, signal })) await round();
    return 0;
  });
};

/** The folder of a program that is known, or one that is named. */
async function followed(source: string, name: string | undefined) {
  const known = FORMATS.find(({ id, folder }) => id === source && folder !== undefined);
  const format = name === undefined ? (known ?? null) : FORMATS.find(({ id }) => id === name);
  if (format === undefined)
    throw new UsageError(`There is no format ${JSON.stringify(name)}: ${FORMATS.map(({ id }) => id).join(", ")}.`);
  const folder = known?.folder?.(process.env, homedir()) ?? source;
  if ((await stat(folder).catch(() => null))?.isDirectory() === true) return { folder, format };
  const programs = FORMATS.flatMap(({ id, folder: place }) => (place === undefined ? [] : [id]));
  const what = known === undefined ? "" : `, where ${known.id} keeps its sessions`;
  throw new Failure(
    "unreadable",
    `${folder}${what}, is not a directory. Name one, or a program: ${programs.join(", ")}.`.replace(", is", " is"),
  );
}

/** What was left out is said once for each file. */
async function report(synced: SyncRound, told: Set<string>, { output, format }: Context): Promise<void> {
  const { files, changed, messages, threads, busy, notes } = synced;
  for (const { place, message } of notes) {
    const note = `${place}: ${message}`;
    if (told.has(note)) continue;
    told.add(note);
    if (told.size <= SHOWN) output.note(note);
  }
  if (format === "json") {
    await output.json({ files, changed, messages, threads, busy, notes });
    return;
  }
  const more = told.size > SHOWN ? ` (${told.size} notes, --json has them all)` : "";
  const wait = busy > 0 ? ` ${counted(busy, "file")} will be read the next time: somebody else is writing.` : "";
  await output.line(
    `${counted(messages, "new message")} in ${counted(changed, "file")} of ${files}, in ${counted(threads.length, "thread")}${more}.${wait}`,
  );
}

const SHOWN = 20;
