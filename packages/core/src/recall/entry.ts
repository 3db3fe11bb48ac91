/**
 * Makes the index entry of one message: terms of its text, of its speaker's name and of its date, and of the extra keys it
 * may be found under. Also says where the entry stands: its ordinal, and which session it belongs to.
 */
import { eachTerm } from "../text/analyze.ts";
import { dateWords, namesTime, relativeDates } from "./dates.ts";
import { countOf, MOST_HUNDREDTHS, passageStarts } from "./passages.ts";
import type { IndexEntry, Placement } from "./port.ts";
import { TIME_TERM } from "./query.ts";
import { STANDING_TERM, standingSentences, TYPED_TERM } from "./standing.ts";

export interface EntrySource {
  readonly text: string;
  /** A person's name, or the role. */
  readonly speaker: string;
  /** Where the speaker is a name. */
  readonly role?: string | undefined;
  /** ISO 8601. */
  readonly at: string;
  /** What a person typed in this thread (standing.ts); all of the text, where the speaker is the user, unless told. */
  readonly typed?: string | undefined;
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
  const passages = addText(source.text, add);
  add(source.aside ?? "", ASIDE_WEIGHT, "counts");
  if (!ROLES.has(source.speaker)) add(source.speaker, 1, "counts");
  add(dateWords(source.at), 1, "counts");
  add(relativeDates(source.text, source.at), 1, "free");
  if (namesTime(source.text)) terms.set(TIME_TERM, 1);
  for (const term of standingTerms(source)) terms.set(term, 1);
  for (const key of source.keys ?? []) add(key, KEY_WEIGHT, "free");
  for (const [term, weight] of terms) {
    const hundredths = Math.min(MOST_HUNDREDTHS, Math.round(weight * 100));
    // Not `weight * 100`: 0.8999999999999999 times 100 is 90, and a store gives 0.9 back.
    if (hundredths / 100 !== weight) terms.set(term, hundredths / 100);
  }
  const { speaker, at } = source;
  const own = { speaker, at, length: Math.round(length), asks: ASKS.test(source.text), terms };
  return passages.size === 0 || length <= SHORT_LENGTH ? own : { ...own, passages };
}

function standingTerms({
  text,
  speaker,
  role = speaker,
  typed = speaker === "user" ? text : "",
}: EntrySource): string[] {
  if (role !== "user" || standingSentences(text).length === 0) return [];
  return typed === text || standingSentences(typed).length > 0 ? [STANDING_TERM, TYPED_TERM] : [STANDING_TERM];
}

/** Terms of the text, and in which of its passages each of them stands. */
function addText(text: string, add: (text: string, weight: number, counts: "counts") => void): Map<string, number> {
  const passages = new Map<string, number>();
  const starts = passageStarts(text);
  if (starts.length === 1) {
    add(text, 1, "counts");
    return passages;
  }
  for (const [passage, start] of starts.entries()) {
    const part = text.slice(start, starts[passage + 1]);
    add(part, 1, "counts");
    eachTerm(part, (term) => passages.set(term, (passages.get(term) ?? 0) | (1 << passage)));
  }
  // What stands nearly everywhere tells no passage from another.
  for (const [term, bits] of passages) if (3 * countOf(bits) > 2 * starts.length) passages.delete(term);
  return passages;
}

/** In indexed words: up to here a message is one passage, and shares terms with its neighbors (rank.ts). */
export const SHORT_LENGTH = 60;

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
