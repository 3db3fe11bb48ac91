/**
 * Rankings to compare ours with. Two libraries, each with its own terms and with ours, over whole messages and over passages; and
 * two prototypes of a few lines: BM25 over whole messages, and BM25 over passages that shares scores and prefers the user.
 */
import { STOP_WORDS } from "../../packages/core/src/text/analyze.ts";
import type { SearchedMessage, SearchedThread } from "../../packages/lab/src/eval/question-data.ts";
import { askerOf, type Ranker, type SubjectAsker } from "../../packages/lab/src/eval/search-subjects.ts";
import { loadPeers, type Peer } from "../recall-peers.ts";

export interface Rival {
  /** Of variants of one name the best in a set is shown. */
  readonly name: string;
  readonly variant: string;
  readonly build: (thread: SearchedThread) => Promise<SubjectAsker>;
}

export async function loadRivals(): Promise<{
  readonly rivals: readonly Rival[];
  readonly missing: readonly string[];
}> {
  const { peers, missing } = await loadPeers("libraries");
  const libraries = peers.flatMap((peer) => [libraryOver("messages", peer), libraryOver("passages", peer)]);
  return { rivals: [...libraries, plainPrototype, passagePrototype], missing };
}

function libraryOver(cut: "messages" | "passages", peer: Peer): Rival {
  const [name, terms] = peer.name.split(", ") as [string, string];
  return {
    name,
    variant: `${terms}, ${cut}`,
    build: async (thread) => {
      const pieces = thread.turns.flatMap((turn) => {
        const texts = cut === "messages" ? [turn.text] : passagesOf(turn.text);
        return texts.map((text) => ({ turn, text: plainText(turn, text) }));
      });
      const turns = pieces.map((piece, at) => ({ seq: at, text: piece.text }));
      const find = await peer.build({ turns }, ({ text }) => text);
      return askerOf(thread, async (question) => [
        ...new Set((await find(question)).map((at) => pieces[at]!.turn.seq)),
      ]);
    },
  };
}

/** What our index reads of a message: its date and speaker, too. */
function plainText({ at, speaker, caption, imageQuery }: SearchedMessage, text: string): string {
  const date = new Date(at).toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" });
  return [date, speaker, text, caption, imageQuery].join(" ");
}

const PASSAGE_WORDS = 90;

function passagesOf(text: string): string[] {
  const words = text.split(/\s+/);
  return Array.from({ length: Math.ceil(words.length / PASSAGE_WORDS) }, (_, at) =>
    words.slice(at * PASSAGE_WORDS, (at + 1) * PASSAGE_WORDS).join(" "),
  );
}

const plainPrototype: Rival = {
  name: "BM25, whole messages",
  variant: "k1 1.2, b 0.75",
  build: async (thread) => askerOf(thread, prototype(thread, { cut: (text) => [text], neighbors: 0, user: 1 })),
};

export const passagePrototype: Rival = {
  name: "BM25, passages, neighbors, user doubled",
  variant: "k1 1.2, b 0.75",
  build: async (thread) => askerOf(thread, prototype(thread, { cut: passagesOf, neighbors: 0.5, user: 2 })),
};

interface PrototypeOptions {
  readonly cut: (text: string) => readonly string[];
  /** The share of the score that a message gives those beside it. */
  readonly neighbors: number;
  /** What a user's message counts. */
  readonly user: number;
}

/** BM25 by the best piece of a message, with crude stems. */
function prototype({ turns }: SearchedThread, { cut, neighbors, user }: PrototypeOptions): Ranker {
  const pieces = turns.map((turn) => cut(plainText(turn, turn.text)).map(crudeTerms));
  const all = pieces.flat();
  const holders = new Map<string, number>();
  for (const terms of all) for (const term of new Set(terms)) holders.set(term, (holders.get(term) ?? 0) + 1);
  const average = all.reduce((sum, terms) => sum + terms.length, 0) / all.length;
  return (question) => {
    const asked = new Set(crudeTerms(question));
    const scoreOf = (terms: readonly string[]): number => {
      let sum = 0;
      for (const [term, times] of countsOf(terms.filter((one) => asked.has(one)))) {
        const held = holders.get(term)!;
        const idf = Math.log(1 + (all.length - held + 0.5) / (held + 0.5));
        sum += (idf * times * 2.2) / (times + 1.2 * (0.25 + (0.75 * terms.length) / average));
      }
      return sum;
    };
    const own = pieces.map((list) => Math.max(0, ...list.map(scoreOf)));
    const scores = turns.map(({ seq, speaker }, at) => {
      const shared = own[at]! + neighbors * ((own[at - 1] ?? 0) + (own[at + 1] ?? 0));
      return { seq, score: shared * (speaker === "user" ? user : 1) };
    });
    return scores
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || a.seq - b.seq)
      .map(({ seq }) => seq);
  };
}

function countsOf(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

function crudeTerms(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => !STOP_WORDS.has(word)).map((word) => word.replace(/(?<=..)(?:ing|ed|es|s)$/, ""));
}
