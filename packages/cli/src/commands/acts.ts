/** Acts on one thread: forked, pinned, taken back, redacted, hidden and shown, its rules and notes. */

import { fork, pin, redact, redo, undo } from "palimpsest/internal/acting";
import type { ResultOf } from "palimpsest/internal/operation";
import {
  addedRule,
  editedRule,
  endedRule,
  type foldRange,
  hide,
  notes,
  restoredRule,
  rules,
  show,
  writtenNote,
} from "palimpsest/internal/shaping";
import { wholeNumber } from "../command/arguments.ts";
import type { Input, Printing } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { choosing, performing } from "../home/acts.ts";
import { requireThreadId } from "../home/home.ts";
import { counted, grouped } from "../terminal/text.ts";

interface ForkFlags {
  readonly at?: number;
  readonly as?: string;
}

export const forking = performing(fork, {
  input({ positionals, options: { at, as } }: Input<ForkFlags>) {
    if (at === undefined) throw new UsageError("--at is missing. Usage: palimpsest fork T --at SEQ [--as T2]");
    if (as !== undefined) requireThreadId(as);
    return { thread: positionals[0]!, at, as };
  },
  show: showFork,
  hints: { exists: "choose another name with --as", "beyond-end": "--at is too high" },
});

async function showFork(document: ResultOf<typeof fork>, { format, output }: Printing): Promise<number> {
  const { thread, parent, at } = document;
  if (format === "json") await output.json(document);
  else await output.line(`Forked ${parent} at record ${at} as ${thread}.`);
  return 0;
}

export const pinning = performing(pin, {
  input: ({ positionals: [thread, seq], options: { off } }: Input<{ readonly off?: boolean }>) => ({
    thread: thread!,
    seq: wholeNumber(seq!, "SEQ", 1),
    on: off !== true,
  }),
  show: showPin,
  hints: { "no-message": '"palimpsest replay T" shows their numbers' },
});

async function showPin(document: ResultOf<typeof pin>, { format, output }: Printing): Promise<number> {
  const { thread, pinned, on } = document;
  if (format === "json") await output.json(document);
  else await output.line(`${on ? "Pinned" : "Unpinned"} message ${pinned} of ${thread}.`);
  return 0;
}

interface UndoOptions {
  readonly redo?: boolean;
}

export const takingBack = choosing<UndoOptions>(({ options }) => (options.redo === true ? redoing : undoing));

const undoing = performing(undo, {
  input({ positionals: [thread, seq] }: Input<UndoOptions>) {
    return { thread: thread!, seq: seq === undefined ? undefined : wholeNumber(seq, "SEQ", 1) };
  },
  show: showUndo,
});

export const redoing = performing(redo, {
  input({ positionals: [thread, seq] }: Input) {
    if (seq !== undefined) throw new UsageError("--redo takes back the newest undo and needs no SEQ.");
    return { thread: thread! };
  },
  show: showUndo,
});

async function showUndo(document: ResultOf<typeof undo>, { format, output }: Printing): Promise<number> {
  const { thread, undone, redone, dependents = [] } = document;
  if (format === "json") await output.json(document);
  else if (undone !== undefined)
    await output.line(
      `Took back record ${undone} of ${thread}${withThem(dependents)}. "palimpsest redo ${thread}" brings it back.`,
    );
  else await output.line(`Took back the undo (record ${redone}) of ${thread}.`);
  return 0;
}

function withThem(dependents: readonly number[]): string {
  if (dependents.length === 0) return "";
  const which = dependents.length === 1 ? "record" : "records";
  return `, and with it ${which} ${dependents.join(", ")}, which built on it`;
}

export const redacting = performing(redact, {
  input: ({ positionals: [thread, seq] }: Input) => ({ thread: thread!, seq: wholeNumber(seq!, "SEQ", 1) }),
  show: showRedact,
  hints: { "no-message": '"palimpsest replay T" shows their numbers' },
});

async function showRedact(document: ResultOf<typeof redact>, { format, output }: Printing): Promise<number> {
  const { redacted, threads, lentTo, facts, shownIn, copies, summaries, rules, busy: held, left } = document;
  if (left !== null)
    output.note(`Another process is reading the database: ${left} still holds the words until it has ended.`);
  for (const one of held)
    output.note(`Thread "${one}" is in use and still shows what was learned of it: redact again when it has ended.`);
  const code = held.length === 0 ? 0 : 1;
  if (format === "json") {
    await output.json(document);
    return code;
  }
  const told =
    document.before === undefined ? "Redacted" : "Redacted already, and nothing that was made of it is left:";
  await output.line(`${told} message ${redacted} of ${threads.join(", ")}.`);
  if (summaries.rebuilt > 0)
    await output.line(
      `Made ${counted(summaries.rebuilt, "summary", "summaries")} anew from the messages that are left, without a model; pinned messages stay.`,
    );
  if (summaries.erased > 0)
    await output.line(`Erased ${counted(summaries.erased, "summary", "summaries")} that could not be made anew.`);
  if (rules.length > 0) await output.line(`Ended what stood in it as a rule: ${rules.join(", ")}.`);
  if (lentTo.length > 0) await output.line(`Erased what was lent of it as evidence in ${lentTo.join(", ")}.`);
  if (facts.length > 0) await output.line(`Forgot what was learned from it: ${facts.join(", ")}.`);
  if (shownIn.length > 0) await output.line(`Erased that where it was shown, in ${shownIn.join(", ")}.`);
  if (copies.length > 0)
    await output.line(`Deleted memories that could not be read and held it: ${copies.join(", ")}.`);
  return code;
}

interface HideOptions {
  readonly "dry-run"?: boolean;
}

export const hiding = performing(hide, {
  input: ({ positionals: [thread = "", place = ""], options: { "dry-run": dryRun = false } }: Input<HideOptions>) => ({
    thread,
    ...placeOf(place),
    dryRun,
  }),
  show: shownCut,
});

export const showing = performing(show, {
  input: ({ positionals: [thread = "", place = ""] }: Input) => ({ thread, ...placeOf(place) }),
  async show(document: ResultOf<typeof show>, { format, output }: Printing) {
    if (format === "json") await output.json(document);
    else await output.line(`Message ${document.shown} of ${document.thread} is shown again.`);
    return 0;
  },
});

/** `12` is a message, `12.0` its first part. */
function placeOf(text: string): { readonly seq: number; readonly part?: number } {
  const [seq = "", part] = text.split(".");
  const message = wholeNumber(seq, "SEQ", 1);
  return part === undefined ? { seq: message } : { seq: message, part: wholeNumber(part, "PART", 0) };
}

export async function shownCut(
  document: ResultOf<typeof hide> | ResultOf<typeof foldRange>,
  { format, output }: Printing,
): Promise<number> {
  if (format === "json") {
    await output.json(document);
    return 0;
  }
  const { thread, range, seq, tokensBefore, tokensAfter, rereads, paysAfter } = document;
  const what = range[0] === range[1] ? `message ${range[0]}` : `messages ${range[0]} to ${range[1]}`;
  const pays = paysAfter === null ? "" : `, which has paid for itself after ${grouped(paysAfter)} requests`;
  await output.line(
    `${seq === null ? "Would hide" : "Hid"} ${what} of ${thread}: ${grouped(tokensBefore)} -> ${grouped(tokensAfter)} tokens; ` +
      `the next request reads ${grouped(rereads)} tokens without the cache${pays}.`,
  );
  if (seq !== null) await output.line(`"palimpsest undo ${thread} ${seq}" takes it back.`);
  return 0;
}

interface RuleListOptions {
  readonly all?: boolean;
}

export const listingRules = performing(rules, {
  input: ({ positionals: [thread = ""] }: Input<RuleListOptions>) => ({ thread }),
  async show(document: ResultOf<typeof rules>, { format, output }: Printing, { options }: Input<RuleListOptions>) {
    if (format === "json") await output.json(document);
    else {
      const shown = document.rules.filter(({ status }) => options.all === true || status !== "ended");
      if (shown.length === 0) await output.line(`${document.thread} has no rules.`);
      for (const { id, text, status, source } of shown) {
        const from = source === null ? "" : `, message ${source}`;
        await output.line(`${id.padEnd(5)} ${text}${status === "active" && from === "" ? "" : `  (${status}${from})`}`);
      }
      const waiting = shown.filter(({ status }) => status === "proposed").length;
      if (waiting > 0) await output.line('Proposed rules wait: "palimpsest rules restore T RULE" puts one in force.');
    }
    return 0;
  },
});

export const adding = performing(addedRule, {
  input: ({ positionals: [thread = "", text = ""] }: Input) => ({ thread, text }),
  show: showRules,
});
export const editing = performing(editedRule, {
  input: ({ positionals: [thread = "", rule = "", text = ""] }: Input) => ({ thread, rule, text }),
  show: showRules,
});
export const ending = performing(endedRule, {
  input: ({ positionals: [thread = "", rule = ""] }: Input) => ({ thread, rule }),
  show: showRules,
});
export const restoring = performing(restoredRule, {
  input: ({ positionals: [thread = "", rule = ""] }: Input) => ({ thread, rule }),
  show: showRules,
});

async function showRules(document: ResultOf<typeof addedRule>, { format, output }: Printing): Promise<number> {
  const { rule, ended, thread } = document;
  if (format === "json") await output.json(document);
  else {
    await output.line(
      rule.status === "active" ? `In force in ${thread}: ${rule.id} ${rule.text}` : `Ended: ${rule.id} ${rule.text}`,
    );
    for (const old of ended) if (old.id !== rule.id) await output.line(`It takes the place of ${old.id} ${old.text}`);
  }
  return 0;
}

export const listingNotes = performing(notes, {
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
