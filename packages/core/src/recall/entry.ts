/**
 * Makes the index entry of one message: terms of its text, of its speaker's name and of its date, and of the extra keys it
 * may be found under. Also says where the entry stands: its ordinal, and which session it belongs to.
 */
import { eachTerm } from "../text/analyze.ts";
import { dateWords, namesTime, relativeDates } from "./dates.ts";
import type { IndexEntry, Placement } from "./port.ts";
import { TIME_TERM } from "./query.ts";

export interface EntrySource {
  readonly text: string;
  /** A person's name, or the role. */
  readonly speaker: string;
  /** ISO 8601. */
  readonly at: string;
  /** Text that stands beside the message and describes it, such as the caption of an image. */
  readonly aside?: string;
  /** Facts or notes that were drawn from this message: it is found under their words too. */
  readonly keys?: readonly string[];
}

export function indexEntry(source: EntrySource): IndexEntry {
  const terms = new Map<string, number>();
  let length = 0;
  const add = (text: string, weight: number, counts: "counts" | "free"): void =>
    eachTerm(text, (term, own) => {
      terms.set(term, (terms.get(term) ?? 0) + own * weight);
      if (counts === "counts") length += own * weight;
    });
  add(source.text, 1, "counts");
  add(source.aside ?? "", ASIDE_WEIGHT, "counts");
  if (!ROLES.has(source.speaker)) add(source.speaker, 1, "counts");
  add(dateWords(source.at), 1, "counts");
  add(relativeDates(source.text, source.at), 1, "free");
  if (namesTime(source.text)) terms.set(TIME_TERM, 1);
  for (const key of source.keys ?? []) add(key, KEY_WEIGHT, "free");
  for (const [term, weight] of terms) if (!Number.isInteger(weight)) terms.set(term, Math.round(weight * 100) / 100);
  return { speaker: source.speaker, at: source.at, length: Math.round(length), asks: ASKS.test(source.text), terms };
}

/** A pause longer than this begins a new session. */
const SESSION_GAP_MS = 4 * 60 * 60 * 1000;

/** The place after `previous`, the thread's newest entry; null for the first. */
export function place(previous: Placement | null, at: string): Placement {
  if (previous === null) return { ordinal: 0, session: 0, at };
  const pause = Date.parse(at) - Date.parse(previous.at);
  const session = Math.abs(pause) > SESSION_GAP_MS ? previous.session + 1 : previous.session;
  return { ordinal: previous.ordinal + 1, session, at };
}

const ASIDE_WEIGHT = 0.6;
const KEY_WEIGHT = 0.5;
/** Role names are words of many texts (`the user table`), so they are matched as speakers only, not as terms. */
const ROLES: ReadonlySet<string> = new Set(["system", "user", "assistant", "tool"]);
const ASKS = /[?\uff1f\u061f]/;
