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
import { listedRules } from "../chat/rules.ts";
import type { Input } from "../command/command.ts";
import { wholeNumber } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { choosing, leftNotes, performing, requireThreadId } from "../home/home.ts";
import { counted, grouped } from "../terminal/output.ts";

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
  show: ({ thread, parent, at }) => `Forked ${parent} at record ${at} as ${thread}.`,
  hints: { exists: "choose another name with --as", "beyond-end": "--at is too high" },
});

const SHOWS_NUMBERS = '"palimpsest replay T" shows their numbers';

export const pinning = performing(pin, {
  input: ({ positionals: [thread, seq], options: { off } }: Input<{ readonly off?: boolean }>) => ({
    thread: thread!,
    seq: wholeNumber(seq!, "SEQ", 1),
    on: off !== true,
  }),
  show: ({ thread, pinned, on }) => `${on ? "Pinned" : "Unpinned"} message ${pinned} of ${thread}.`,
  hints: { "no-message": SHOWS_NUMBERS },
});

interface UndoOptions {
  readonly redo?: boolean;
}

export const takingBack = choosing<UndoOptions>(({ options }) => (options.redo === true ? redoing : undoing));

const undoing = performing(undo, {
  input({ positionals: [thread, seq] }: Input<UndoOptions>) {
    return { thread: thread!, seq: seq === undefined ? undefined : wholeNumber(seq, "SEQ", 1) };
  },
  show: undoText,
});

export const redoing = performing(redo, {
  input({ positionals: [thread, seq] }: Input) {
    if (seq !== undefined) throw new UsageError("--redo takes back the newest undo and needs no SEQ.");
    return { thread: thread! };
  },
  show: undoText,
});

function undoText({ thread, undone, redone, dependents = [] }: ResultOf<typeof undo>): string {
  if (undone === undefined) return `Took back the undo (record ${redone}) of ${thread}.`;
  return `Took back record ${undone} of ${thread}${withThem(dependents)}. "palimpsest redo ${thread}" brings it back.`;
}

function withThem(dependents: readonly number[]): string {
  if (dependents.length === 0) return "";
  const which = dependents.length === 1 ? "record" : "records";
  return `, and with it ${which} ${dependents.join(", ")}, which built on it`;
}

export const redacting = performing(redact, {
  input: ({ positionals: [thread, seq] }: Input) => ({ thread: thread!, seq: wholeNumber(seq!, "SEQ", 1) }),
  notes: ({ left, busy }) => [
    ...leftNotes(left),
    ...busy.map(
      (id) => `Thread "${id}" is in use and still shows what was learned of it: redact again when it has ended.`,
    ),
  ],
  show: redactLines,
  failed: ({ busy }) => busy.length > 0,
  hints: { "no-message": SHOWS_NUMBERS },
});

function redactLines(document: ResultOf<typeof redact>): readonly string[] {
  const { before, redacted, threads, lentTo, facts, shownIn, copies, summaries, rules, repeatedIn, quotedIn } =
    document;
  const told = before === undefined ? "Redacted" : "Redacted already, and nothing that was made of it is left:";
  const { rebuilt, erased } = summaries;
  const lines = [`${told} message ${redacted} of ${threads.join(", ")}.`];
  if (rebuilt > 0)
    lines.push(
      `Made ${counted(rebuilt, "summary", "summaries")} anew from the messages that are left, without a model; pinned messages stay.`,
    );
  if (erased > 0) lines.push(`Erased ${counted(erased, "summary", "summaries")} that could not be made anew.`);
  if (rules.length > 0) lines.push(`Ended what stood in it as a rule: ${rules.join(", ")}.`);
  if (repeatedIn.length > 0) lines.push(`Erased lookups and copies that repeated it: ${repeatedIn.join(", ")}.`);
  if (lentTo.length > 0) lines.push(`Erased what was lent of it as evidence in ${lentTo.join(", ")}.`);
  if (facts.length > 0) lines.push(`Forgot what was learned from it: ${facts.join(", ")}.`);
  if (shownIn.length > 0) lines.push(`Erased that where it was shown, in ${shownIn.join(", ")}.`);
  if (copies.length > 0) lines.push(`Deleted memories that could not be read and held it: ${copies.join(", ")}.`);
  if (quotedIn.length > 0)
    lines.push(`Later messages still quote it: ${firstOf(quotedIn)}. Redact each that must not keep the words.`);
  return lines;
}

const MOST_NAMED = 12;

function firstOf(places: readonly string[]): string {
  const more = places.length - MOST_NAMED;
  return `${places.slice(0, MOST_NAMED).join(", ")}${more > 0 ? ` and ${grouped(more)} more (--json names all)` : ""}`;
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
  show: cutLines,
});

export const showing = performing(show, {
  input: ({ positionals: [thread = "", place = ""] }: Input) => ({ thread, ...placeOf(place) }),
  show: ({ shown, thread }) => `Message ${shown} of ${thread} is shown again.`,
});

/** `12` is a message, `12.0` its first part. */
function placeOf(text: string): { readonly seq: number; readonly part?: number } {
  const [seq = "", part] = text.split(".");
  const message = wholeNumber(seq, "SEQ", 1);
  return part === undefined ? { seq: message } : { seq: message, part: wholeNumber(part, "PART", 0) };
}

export function cutLines(document: ResultOf<typeof hide> | ResultOf<typeof foldRange>): readonly string[] {
  const { thread, range, seq, tokensBefore, tokensAfter, rereads, paysAfter } = document;
  const what = range[0] === range[1] ? `message ${range[0]}` : `messages ${range[0]} to ${range[1]}`;
  const pays = paysAfter === null ? "" : `, which has paid for itself after ${grouped(paysAfter)} requests`;
  return [
    `${seq === null ? "Would hide" : "Hid"} ${what} of ${thread}: ${grouped(tokensBefore)} -> ${grouped(tokensAfter)} tokens; ` +
      `the next request reads ${grouped(rereads)} tokens without the cache${pays}.`,
    ...(seq === null ? [] : [`"palimpsest undo ${thread} ${seq}" takes it back.`]),
  ];
}

interface RuleListOptions {
  readonly all?: boolean;
}

export const listingRules = performing(rules, {
  input: ({ positionals: [thread = ""] }: Input<RuleListOptions>) => ({ thread }),
  show({ thread, rules: known }, _, { options: { all = false } }) {
    const shown = known.filter(({ status }) => all || status !== "ended");
    if (shown.length === 0)
      return known.length === 0
        ? `${thread} has no rules.`
        : `${thread} has no rules in force; --all lists those that ended.`;
    const waiting = shown.some(({ status }) => status === "proposed");
    return [
      ...listedRules(shown),
      ...(waiting ? ['Proposed rules wait: "palimpsest rules restore T RULE" puts one in force.'] : []),
    ];
  },
});

export const adding = performing(addedRule, {
  input: ({ positionals: [thread = "", text = ""] }: Input) => ({ thread, text }),
  show: ruleLines,
});
export const editing = performing(editedRule, {
  input: ({ positionals: [thread = "", rule = "", text = ""] }: Input) => ({ thread, rule, text }),
  show: ruleLines,
});
export const ending = performing(endedRule, {
  input: ({ positionals: [thread = "", rule = ""] }: Input) => ({ thread, rule }),
  show: ruleLines,
});
export const restoring = performing(restoredRule, {
  input: ({ positionals: [thread = "", rule = ""] }: Input) => ({ thread, rule }),
  show: ruleLines,
});

function ruleLines({ rule, ended, thread }: ResultOf<typeof addedRule>): readonly string[] {
  const replaced = ended.filter(({ id }) => id !== rule.id);
  return [
    rule.status === "active" ? `In force in ${thread}: ${rule.id} ${rule.text}` : `Ended: ${rule.id} ${rule.text}`,
    ...replaced.map(({ id, text }) => `It takes the place of ${id} ${text}`),
  ];
}

export const listingNotes = performing(notes, {
  input: ({ positionals: [thread = ""] }: Input) => ({ thread }),
  show: ({ thread, notes: written }) =>
    written.length === 0
      ? `${thread} has no notes.`
      : written.map(({ name, text, revision, by }) => `${name} (revision ${revision}, by the ${by})\n${text}\n`),
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
  show: ({ note, thread }) =>
    note === null
      ? `The note is deleted from ${thread}.`
      : `Wrote ${note.name} of ${thread}, revision ${note.revision}.`,
  hints: { "changed-since": '"palimpsest notes T" shows its revision' },
});
