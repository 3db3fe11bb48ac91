/**
 * The questions a transcript asks of every policy as it goes on, and the asking: what of it the prompt at hand still
 * holds, what a search over everything said finds among its first hits, and what had to be fetched again.
 */

import { type OpenAiMessage, openaiShape } from "@palimpsest/core/internal/message";
import { messageText } from "@palimpsest/core/internal/summary";
import { findUses, folded, isVisible, readable, type Use, type UseKind } from "./judge.ts";
import type { View } from "./policy.ts";
import type { Transcript } from "./transcript.ts";
import { searchTurns } from "./turn-search.ts";

/** How many there were, and how many of them the prompt held. */
export interface QuestionShare {
  used: number;
  visible: number;
}

/** A use is distant when more messages than this lie between. The lab's own figures take the middle one. */
const DISTANCES = [5, 20, 50] as const;
const DISTANT = 20;

/** `kinds` and `messages` (all distant uses of one message together) at the middle distance; `edits` at any. */
export interface Scores {
  readonly distances: Readonly<Record<(typeof DISTANCES)[number], QuestionShare>>;
  readonly kinds: Readonly<Record<UseKind, QuestionShare>>;
  readonly messages: QuestionShare;
  readonly edits: QuestionShare;
}

interface Answers {
  /** Distant uses asked for, still in the prompt, and else found by recall. */
  readonly asked: number;
  readonly known: number;
  readonly recalled: number;
  /** What had to be fetched again. */
  readonly fetched: readonly Fetched[];
}

/** A piece of a message, as large as one answer of the tool that reads history. */
interface Fetched {
  readonly source: number;
  readonly text: string;
}

export interface Questions {
  /** What was counted so far: as the prompts were sent, and without what stubs say. */
  readonly scores: Scores;
  readonly strict: Scores;
  ask(at: number, view: View): Promise<Answers>;
}

export function questionsOf({ turns }: Transcript, hits: number): Questions {
  const messages = turns.map(({ message }) => message);
  const uses = usesOf(turns);
  const { find } = searchTurns(turns);
  /** Searches what was said before the question, with the term as the query. */
  const recall = async ({ at, text }: Use): Promise<boolean> =>
    (await find(text, { end: at, hits })).some((turn) => readable(messages[turn]!).includes(text));
  const [scores, strict] = [noScores(), noScores()];
  return {
    scores,
    strict,
    async ask(at, view) {
      const asked = uses.get(at) ?? [];
      if (asked.length === 0) return { asked: 0, known: 0, recalled: 0, fetched: [] };
      const prompt = view.map(({ message }) => readable(message));
      const unpruned = view.map(({ message }) => readable(message, "skip"));
      const lost = asked.filter(({ text }) => !isVisible(text, prompt));
      count(scores, asked, new Set(lost));
      count(strict, asked, new Set(asked.filter(({ text }) => !isVisible(text, unpruned))));
      const distant = asked.filter(isTerm).filter((use) => isDistant(use, DISTANT));
      const missing = lost.filter(isTerm);
      let recalled = 0;
      for (const use of missing) if (isDistant(use, DISTANT) && (await recall(use))) recalled++;
      const shown = distant.length - missing.filter((use) => isDistant(use, DISTANT)).length;
      return { asked: distant.length, known: shown, recalled, fetched: fetchedFor(missing, messages) };
    },
  };
}

const known = new WeakMap<Transcript["turns"], ReadonlyMap<number, readonly Use[]>>();

/** Found once for a transcript, however many policies play it. */
function usesOf(turns: Transcript["turns"]): ReadonlyMap<number, readonly Use[]> {
  const uses = known.get(turns) ?? Map.groupBy(findUses(turns.map(({ message }) => message)), ({ at }) => at);
  known.set(turns, uses);
  return uses;
}

/** Of `recall_read`, in characters. */
const PIECE = 8000;

/** As few pieces as hold all that is missing. */
function fetchedFor(missing: readonly Use[], messages: readonly OpenAiMessage[]): readonly Fetched[] {
  const pieces: (Fetched & { readonly readable: string })[] = [];
  for (const { text, lastSeen: source } of missing) {
    if (pieces.some((piece) => piece.source === source && piece.readable.includes(text))) continue;
    const piece = pieceWith(messageText(messages[source]!, openaiShape), text);
    pieces.push({ source, text: piece, readable: folded(piece) });
  }
  return pieces;
}

function pieceWith(whole: string, term: string): string {
  if (whole.length <= PIECE) return whole;
  const words = folded(whole);
  // White space is spread evenly enough to find the place.
  const middle = Math.floor((words.indexOf(term) / words.length) * whole.length);
  const start = Math.max(0, Math.min(middle - PIECE / 2, whole.length - PIECE));
  const piece = whole.slice(start, start + PIECE);
  return folded(piece).includes(term) ? piece : whole;
}

function isTerm({ kind }: Use): boolean {
  return kind !== "edit";
}

function isDistant({ at, lastSeen }: Use, distance: number): boolean {
  return at - lastSeen > distance;
}

function noScores(): Scores {
  const none = (): QuestionShare => ({ used: 0, visible: 0 });
  return {
    distances: { 5: none(), 20: none(), 50: none() },
    kinds: { path: none(), identifier: none(), line: none(), edit: none() },
    messages: none(),
    edits: none(),
  };
}

function count(scores: Scores, asked: readonly Use[], lost: ReadonlySet<Use>): void {
  const add = (share: QuestionShare, uses: readonly Use[]): void => {
    share.used += uses.length;
    share.visible += uses.filter((use) => !lost.has(use)).length;
  };
  const terms = asked.filter(isTerm);
  for (const distance of DISTANCES)
    add(
      scores.distances[distance],
      terms.filter((use) => isDistant(use, distance)),
    );
  const distant = asked.filter((use) => isDistant(use, DISTANT));
  for (const use of distant) add(scores.kinds[use.kind], [use]);
  add(
    scores.edits,
    asked.filter((use) => !isTerm(use)),
  );
  const whole = distant.filter(isTerm);
  if (whole.length === 0) return;
  scores.messages.used++;
  if (!whole.some((use) => lost.has(use))) scores.messages.visible++;
}
