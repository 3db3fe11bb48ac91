/**
 * The questions a transcript asks of every policy, and the asking: what of it the prompt at hand still answers, what a
 * search over everything said finds among its first five, and what had to be fetched again.
 */
import { inputText, messageText } from "@palimpsest/core/compaction";
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/message";
import { answersIn, findProbes, type Probe } from "@palimpsest/core/pricing";
import { indexEntry, MemoryIndex, search } from "@palimpsest/core/recall";
import type { View } from "./policy.ts";
import type { Transcript, Turn } from "./transcript.ts";

interface Answers {
  /** Distant uses asked for, still in the prompt, and else found by recall. */
  asked: number;
  known: number;
  recalled: number;
  /** Indices of messages that had to be fetched again. */
  readonly fetched: readonly number[];
}

export interface Questions {
  ask(at: number, view: View): Promise<Answers>;
}

const RECALL_HITS = 5;
const QUOTED_LINES = 3;

export function questionsOf({ turns }: Transcript): Questions {
  const probes = Map.groupBy(findProbes(turns.map(probed)), (probe) => probe.at);
  const recall = recallOver(turns);
  return {
    async ask(at, view) {
      const held = view.map(({ message }) => answersOf(message));
      const missing: Probe[] = [];
      const tally = { asked: 0, known: 0, recalled: 0 };
      for (const probe of probes.get(at) ?? []) {
        const known = held.some((answers) => answers.has(probe.term));
        if (!known) missing.push(probe);
        if (probe.kind !== "distant") continue;
        tally.asked++;
        if (known) tally.known++;
        else if (await recall(probe)) tally.recalled++;
      }
      const sources = Map.groupBy(missing, (probe) => probe.lastSeen);
      const fetched = [...sources].flatMap(([source, asked]) => (needsFetching(asked) ? [source] : []));
      return { ...tally, fetched };
    },
  };
}

function probed({ message }: Turn) {
  const calls = openaiShape.parts(message).flatMap((part) => (part.kind === "call" ? [inputText(part.input)] : []));
  const uses = openaiShape.role(message) === "assistant";
  return { text: messageText(message, openaiShape), quoted: calls.join("\n"), uses };
}

/** A name that is gone must be looked up; a quoted line may be common knowledge, several are copied from somewhere. */
function needsFetching(missing: readonly Probe[]): boolean {
  const quotes = missing.filter((probe) => probe.kind === "quote").length;
  return missing.length > quotes || quotes >= QUOTED_LINES;
}

/** Searches what was said before the question, with the term as the query. */
function recallOver(turns: readonly Turn[]): (probe: Probe) => Promise<boolean> {
  const index = new MemoryIndex();
  let indexed = 0;
  return async ({ at, term }) => {
    for (; indexed < at; indexed++) {
      const { message, at: when } = turns[indexed]!;
      const entry = { text: messageText(message, openaiShape), speaker: openaiShape.role(message) };
      index.put({ thread: "session", seq: indexed }, indexEntry({ ...entry, at: new Date(when).toISOString() }));
    }
    const result = await search(index, { kind: "thread", thread: "session" }, term, { limit: RECALL_HITS });
    if (result.kind !== "found") return false;
    return result.hits.some(({ doc }) => answersOf(turns[doc.seq]!.message).has(term));
  };
}

const known = new WeakMap<OpenAiMessage, ReadonlySet<string>>();

function answersOf(message: OpenAiMessage): ReadonlySet<string> {
  let answers = known.get(message);
  if (answers === undefined) {
    answers = answersIn(messageText(message, openaiShape));
    known.set(message, answers);
  }
  return answers;
}
