/**
 * The questions a transcript asks of every policy as it goes on, and the asking: what of it the prompt at hand still
 * answers, what a search over everything said finds among its first hits, and what had to be fetched again.
 */
import { inputText, messageText } from "@palimpsest/core/internal/compaction";
import { answersIn, findProbes } from "@palimpsest/core/internal/pricing";
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/message";
import type { Probe } from "@palimpsest/core/pricing";
import type { View } from "./policy.ts";
import type { Transcript, Turn } from "./transcript.ts";
import { searchTurns } from "./turn-search.ts";

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

const QUOTED_LINES = 3;

export function questionsOf({ turns }: Transcript, hits: number): Questions {
  const probes = Map.groupBy(findProbes(turns.map(probed)), (probe) => probe.at);
  const { find } = searchTurns(turns);
  /** Searches what was said before the question, with the term as the query. */
  const recall = async ({ at, term }: Probe): Promise<boolean> =>
    (await find(term, { end: at, hits })).some((turn) => answersOf(turns[turn]!.message).has(term));
  return {
    async ask(at, view) {
      const answerSets = view.map(({ message }) => answersOf(message));
      const missing: Probe[] = [];
      const tally = { asked: 0, known: 0, recalled: 0 };
      for (const probe of probes.get(at) ?? []) {
        const isShown = answerSets.some((answers) => answers.has(probe.term));
        if (!isShown) missing.push(probe);
        if (probe.kind !== "distant") continue;
        tally.asked++;
        if (isShown) tally.known++;
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

const cache = new WeakMap<OpenAiMessage, ReadonlySet<string>>();

function answersOf(message: OpenAiMessage): ReadonlySet<string> {
  let answers = cache.get(message);
  if (answers === undefined) {
    answers = answersIn(messageText(message, openaiShape));
    cache.set(message, answers);
  }
  return answers;
}
