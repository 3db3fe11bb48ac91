import type { ResultOf } from "palimpsest/internal/operation";
import { summary, summaryEdit } from "palimpsest/internal/shaping";
import { EDIT_DONE, summaryLines } from "../chat/rules.ts";
import type { Input } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { performing } from "../home/home.ts";
import { grouped } from "../terminal/output.ts";

export const listing = performing(summary, {
  input: ({ positionals: [thread = ""] }: Input) => ({ thread }),
  show: summaryLines,
});

interface EditOptions {
  readonly "dry-run"?: boolean;
}

interface AddOptions extends EditOptions {
  readonly section?: string;
}

const mode = ({ "dry-run": dryRun = false }: EditOptions) => ({ dryRun });

export const editing = performing(summaryEdit, {
  input: ({ positionals: [thread = "", item = "", text = ""], options }: Input<EditOptions>) => ({
    thread,
    act: "edit" as const,
    item,
    text,
    ...mode(options),
  }),
  show: (document) => editLines(document, "edit"),
});

export const adding = performing(summaryEdit, {
  input: ({ positionals: [thread = "", text = ""], options }: Input<AddOptions>) => ({
    thread,
    act: "add" as const,
    text,
    section: sectionOf(options.section ?? "facts"),
    ...mode(options),
  }),
  show: (document) => editLines(document, "add"),
});

export const deleting = performing(summaryEdit, {
  input: ({ positionals: [thread = "", item = ""], options }: Input<EditOptions>) => ({
    thread,
    act: "delete" as const,
    item,
    ...mode(options),
  }),
  show: (document) => editLines(document, "delete"),
});

const SECTIONS = ["goals", "decisions", "files", "facts", "errors", "now", "next"] as const;

function sectionOf(name: string): (typeof SECTIONS)[number] {
  const section = SECTIONS.find((one) => one === name);
  if (section === undefined) throw new UsageError(`--section is one of ${SECTIONS.join(", ")}, not ${name}.`);
  return section;
}

function editLines(document: ResultOf<typeof summaryEdit>, act: keyof typeof EDIT_DONE): readonly string[] {
  const { thread, seq, item, tokensBefore, tokensAfter, rereads } = document;
  return [
    `${seq === null ? `Would ${act}` : EDIT_DONE[act]} item ${item} of the summary of ${thread}: ` +
      `${grouped(tokensBefore)} -> ${grouped(tokensAfter)} tokens; the next request reads ${grouped(rereads)} tokens without the cache.`,
    ...(seq === null ? [] : [`"palimpsest undo ${thread} ${seq}" takes it back.`]),
  ];
}
