/**
 * What the model has written itself and still stands: files, edits, commands, or else its longer answers, each as a place in
 * the log. Words of the model are what it quotes later on, so a summary quotes them from there. Incremental: a later block extends an earlier one.
 */
import type { CallPart, Shape } from "../../message/shape.ts";
import { isRecord } from "../../text/is-record.ts";
import type { NumberedMessage } from "../ledger/ledger.ts";
import { commandEffects, readCall, writtenText } from "../ledger/tool-calls.ts";

export interface WorkPart {
  /** The message, and which of its parts. */
  readonly seq: number;
  readonly part: number;
  readonly kind: WorkKind;
  /** The file; null for a command and for what was said. */
  readonly path: string | null;
  /** Number of the message, from 1, in which it or its file was last touched. */
  readonly touched: number;
}

const KINDS = ["write", "edit", "command", "said"] as const;
export type WorkKind = (typeof KINDS)[number];

export interface Work {
  /** Messages read so far. */
  readonly messages: number;
  /** What nothing has replaced since, in the order of the log. */
  readonly parts: readonly WorkPart[];
}

export const NO_WORK: Work = { messages: 0, parts: [] };

/** What a state remembers: so many parts, and only while they or their files were touched so many messages ago at most. */
const MOST_PARTS = 80;
const OLDEST = 160;
/** In characters. What is shorter is seldom worth the line that names it. */
const LEAST_SAID = 400;

export function extendWork<M>(prior: Work, entries: readonly NumberedMessage<M>[], shape: Shape<M>): Work {
  const parts = new Map(prior.parts.map((part) => [keyOf(part), part]));
  const open = new Map<string, string>();
  let messages = prior.messages;
  for (const { seq, message } of entries) {
    messages += 1;
    const isOwn = shape.role(message) === "assistant";
    for (const [index, part] of shape.parts(message).entries()) {
      if (isOwn && part.kind === "text" && part.text.length >= LEAST_SAID) {
        const said = { seq, part: index, kind: "said", path: null, touched: messages } as const;
        parts.set(keyOf(said), said);
      } else if (part.kind === "call") {
        const added = take(parts, part, { seq, part: index, touched: messages });
        if (added !== null) open.set(part.id, added);
      } else if (part.kind === "result") {
        const key = open.get(part.id);
        // What failed has written nothing.
        if (key !== undefined && part.isError) parts.delete(key);
        open.delete(part.id);
      }
    }
  }
  const recent = [...parts.values()].filter(({ touched }) => messages - touched <= OLDEST);
  // In a thread without files and commands, what the model said is all that it has made.
  const made = recent.filter(({ kind }) => kind !== "said");
  return { messages, parts: (made.length > 0 ? made : recent).slice(-MOST_PARTS) };
}

/** What a compaction has stored; nothing where it can't be read. */
export function readWork(stored: unknown): Work {
  if (!isRecord(stored) || !Array.isArray(stored["parts"])) return NO_WORK;
  const { messages } = stored;
  const parts = stored["parts"].filter(isPart);
  return { messages: typeof messages === "number" ? messages : 0, parts };
}

interface Place {
  readonly seq: number;
  readonly part: number;
  readonly touched: number;
}

/** The key of the part it adds; null when the call wrote nothing. */
function take(parts: Map<string, WorkPart>, call: CallPart, place: Place): string | null {
  const { seq, part, touched } = place;
  const meaning = readCall(call);
  if (meaning.kind === "other") return null;
  const acts = meaning.kind === "shell" ? commandEffects(meaning.command).files : meaning.acts;
  for (const act of acts) {
    // What was removed is often written anew: it is what the model works from until then.
    if (act.act === "write") drop(parts, act.path);
    else if (act.act === "move") rename(parts, act.path, act.to, touched);
    else if (act.act !== "delete") touch(parts, act.path, touched);
  }
  if (writtenText(call) === null) return null;
  const [first] = acts;
  const kind = meaning.kind === "shell" ? "command" : first?.act === "write" ? "write" : "edit";
  const added = { seq, part, kind, path: kind === "command" ? null : (first?.path ?? null), touched } as const;
  parts.set(keyOf(added), added);
  return keyOf(added);
}

function drop(parts: Map<string, WorkPart>, path: string): void {
  for (const [key, part] of parts) if (part.path === path) parts.delete(key);
}

function touch(parts: Map<string, WorkPart>, path: string, touched: number): void {
  for (const [key, part] of parts) if (part.path === path) parts.set(key, { ...part, touched });
}

function rename(parts: Map<string, WorkPart>, from: string, to: string, touched: number): void {
  for (const [key, part] of parts) if (part.path === from) parts.set(key, { ...part, path: to, touched });
}

function keyOf({ seq, part }: Pick<WorkPart, "seq" | "part">): string {
  return `${seq}:${part}`;
}

function isPart(value: unknown): value is WorkPart {
  if (!isRecord(value)) return false;
  const { seq, part, kind, path, touched } = value;
  const numbers = [seq, part, touched].every((number) => Number.isSafeInteger(number));
  return numbers && KINDS.includes(kind as WorkKind) && (path === null || typeof path === "string");
}
