import type { ResultOf } from "palimpsest/internal/operation";
import { notes, writtenNote } from "palimpsest/internal/shaping";
import type { Input, Printing } from "../command/command.ts";
import { performing } from "../home/acts.ts";

export const listing = performing(notes, {
  input: ({ positionals: [thread = ""] }: Input) => ({ thread }),
  async show(document: ResultOf<typeof notes>, { format, output }: Printing) {
    if (format === "json") await output.json(document);
    else {
      if (document.notes.length === 0) await output.line(`${document.thread} has no notes.`);
      for (const { name, text, revision, by } of document.notes)
        await output.line(`${name} (revision ${revision}, by the ${by})\n${text}\n`);
    }
    return 0;
  },
});

interface NoteOptions {
  readonly revision?: number;
}

export const writing = performing(writtenNote, {
  input: ({ positionals: [thread = "", name = "", text = ""], options: { revision = 0 } }: Input<NoteOptions>) => ({
    thread,
    name,
    text,
    revision,
  }),
  async show(document: ResultOf<typeof writtenNote>, { format, output }: Printing) {
    const { note, thread } = document;
    if (format === "json") await output.json(document);
    else if (note === null) await output.line(`The note is deleted from ${thread}.`);
    else await output.line(`Wrote ${note.name} of ${thread}, revision ${note.revision}.`);
    return 0;
  },
  hints: { "changed-since": '"palimpsest notes T" shows its revision' },
});
