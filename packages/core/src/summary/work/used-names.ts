/**
 * The names, numbers and paths of a conversation, by how many messages of the assistant use them: what it has used often it
 * uses again. Counted on from one compaction to the next; bounded.
 */
import type { Shape } from "../../message/shape.ts";
import { type Name, namesIn } from "../../text/names.ts";
import type { NumberedMessage } from "../ledger/ledger.ts";

/** With the number of messages of the assistant that hold it, and of messages in all. */
export type UsedName = readonly [name: string, used: number, seen: number];

/** What a state remembers, in characters. */
const MOST_CHARACTERS = 6000;
/** Names per message that take part; a listing of megabytes has more than a summary could ever name. */
const MOST_PER_MESSAGE = 2000;
const LONGEST_NAME = 120;
/** Of one text, in characters; and of one block, the newest messages. */
const MOST_READ = 100_000;
const MOST_MESSAGES = 2000;

/** In the order in which they first came, so that little of a stored list changes. */
export function extendNames<M>(
  prior: readonly UsedName[],
  entries: readonly NumberedMessage<M>[],
  shape: Shape<M>,
): readonly UsedName[] {
  const names = new Map(prior.map((each) => [each[0], each]));
  for (const { message } of entries.slice(-MOST_MESSAGES)) {
    const role = shape.role(message);
    if (role === "system") continue;
    for (const name of namesOf(message, shape)) {
      const [, used, seen] = names.get(name) ?? [name, 0, 0];
      names.set(name, [name, used + (role === "assistant" ? 1 : 0), seen + 1]);
    }
  }
  return bounded([...names.values()]);
}

/** The likeliest to be used again first. What was seen once goes last; of equals the newer one is likelier. */
export function byUse(names: readonly UsedName[]): readonly UsedName[] {
  return names
    .map((each, index) => ({ each, index, score: scoreOf(each) }))
    .sort((a, b) => b.score - a.score || b.index - a.index)
    .map(({ each }) => each);
}

/** What a compaction has stored; nothing where it can't be read. */
export function readNames(stored: unknown): readonly UsedName[] {
  return Array.isArray(stored) ? stored.filter(isUsedName) : [];
}

/** The names of a message, each once. The keys of JSON come back in every result, and name nothing. */
export function namesOf<M>(message: M, shape: Shape<M>): readonly string[] {
  const names = new Set<string>();
  for (const part of shape.parts(message)) {
    // A listing of megabytes would keep the process busy for names that nobody uses.
    const text = part.kind === "call" ? part.input.replaceAll(/\\[nrt"]/g, " ") : "text" in part ? part.text : "";
    const beginning = text.slice(0, MOST_READ);
    const values = part.kind === "text" ? beginning : beginning.replaceAll(KEYS, " ");
    for (const name of namesIn(values)) {
      if (!isTelling(name) || name.written.length > LONGEST_NAME) continue;
      names.add(name.written);
      if (names.size >= MOST_PER_MESSAGE) return [...names];
    }
  }
  return [...names];
}

const KEYS = /"[\w.$-]{1,100}" ?:/g;

/** A number of two digits tells nothing by itself. */
function isTelling({ kind, written }: Name): boolean {
  return kind !== "number" || written.replace(/\D/g, "").length > 2;
}

function scoreOf([, used, seen]: UsedName): number {
  return used + seen / 10;
}

function bounded(names: readonly UsedName[]): readonly UsedName[] {
  if (charactersIn(names) <= MOST_CHARACTERS) return names;
  let left = MOST_CHARACTERS;
  const kept = new Set<UsedName>();
  for (const each of byUse(names)) {
    left -= each[0].length + 2;
    if (left < 0) break;
    kept.add(each);
  }
  return names.filter((each) => kept.has(each));
}

function charactersIn(names: readonly UsedName[]): number {
  return names.reduce((sum, [name]) => sum + name.length + 2, 0);
}

function isUsedName(value: unknown): value is UsedName {
  if (!Array.isArray(value)) return false;
  const [name, ...counts] = value as unknown[];
  return typeof name === "string" && counts.length === 2 && counts.every(Number.isFinite);
}
