/**
 * Plays a transcript under a policy: the requests it would have sent, what they cost with the provider's cache, what of
 * the distant uses was still in the prompt, and what had to be fetched again - a request of its own, and the result is
 * written and carried from then on.
 */
import { type OpenAiMessage, openaiRules, openaiShape, violations } from "@palimpsest/core/internal/message";
import { askForEvidence } from "./evidence.ts";
import type { Policy, SideCall, View } from "./policy.ts";
import { type CacheRules, type Piece, providerCache } from "./provider-cache.ts";
import { questionsOf, type Scores } from "./questions.ts";
import type { Transcript } from "./transcript.ts";

export interface Played {
  /** In the unit of the prices. */
  cost: number;
  requests: number;
  /** Tokens of all requests together, and how many of them the provider's cache already held. */
  tokens: number;
  reused: number;
  /** Rules of the provider that requests broke. */
  violations: number;
  /** Requests before which the policy made the view smaller. */
  compactions: number;
  /** Distant uses in all, still in the prompt, and else found by recall. */
  asked: number;
  known: number;
  recalled: number;
  /** Questions asked at the end; of their evidence, the shares in the prompt, and with what recall finds, summed up. */
  questions: number;
  evidence: number;
  evidenceWithRecall: number;
  /** The largest request, in tokens. */
  peak: number;
  rereads: number;
  /** Requests that reused less than the one before had sent. */
  breaks: number;
  summarizerCalls: number;
  /** By the judge, in detail: as the prompts were sent, and without what stubs say. */
  readonly scores: Scores;
  readonly strict: Scores;
  readonly timeline: Moment[];
}

/** The figures that can be summed up. */
export type PlayedCount = Exclude<keyof Played, "timeline" | "scores" | "strict">;

/** What one request was made of, in tokens. */
export interface Moment {
  readonly turn: number;
  readonly parts: Readonly<Record<MomentPart, number>>;
}

export type MomentPart = "fixed" | "summary" | "user" | "assistant" | "tool";

const ASKING_TOKENS = 60;
/** Seqs of fetched messages: beyond any transcript's own. */
const FETCHED = 1_000_000;

export interface PlayOptions {
  readonly provider: CacheRules;
  /** How many hits of a search the agent reads. */
  readonly hits: number;
  /** `never`: what is lost stays lost, which shows what the policy alone keeps. */
  readonly fetches?: "always" | "never";
}

export async function play(transcript: Transcript, policy: Policy, options: PlayOptions): Promise<Played> {
  const { turns, meter, fixedTokens } = transcript;
  const { provider, hits, fetches = "always" } = options;
  const questions = questionsOf(transcript, hits);
  const played = nothingPlayed(questions);
  const cashier = openCashier(played, transcript, provider);
  const momentAt = (sentAt: number) => ({ meter, fixedTokens, ...cashier.moment(sentAt) });
  let view: View = [];
  for (const [index, turn] of turns.entries()) {
    if (openaiShape.role(turn.message) === "assistant" && index > 0) {
      const sentAt = turns[index - 1]!.at;
      const prepared = policy.prepare(view, momentAt(sentAt));
      if (prepared.view !== view) {
        played.compactions++;
        cashier.changed(view, prepared.view);
      }
      view = prepared.view;
      played.violations += violations(
        view.map(({ message }) => message),
        openaiShape,
        openaiRules,
      ).length;
      for (const call of prepared.calls) cashier.aside(call);
      const { fetched, asked, known, recalled } = await questions.ask(index, view);
      played.asked += asked;
      played.known += known;
      played.recalled += recalled;
      for (const { text } of fetches === "always" ? fetched : []) {
        cashier.charge(view, { sentAt, output: ASKING_TOKENS });
        view = [...view, ...fetchedAgain(text, played.rereads++)];
      }
      cashier.charge(view, { sentAt, output: turn.output ?? meter.message(turn.message) });
      played.timeline.push({ turn: index, parts: partsOf(view, transcript) });
    }
    view = [...view, { source: "message", seq: index + 1, message: turn.message, addition: null }];
  }
  await askAtEnd(played, transcript, {
    hits,
    prepare: (shownView) => policy.prepare(shownView, momentAt(turns.at(-1)?.at ?? 0)).view,
    view,
  });
  return played;
}

/** All questions are put to one prompt: the one the policy makes when the first of them is asked. Not charged. */
async function askAtEnd(
  played: Played,
  transcript: Transcript,
  { view, hits, prepare }: { view: View; hits: number; prepare: (view: View) => View },
): Promise<void> {
  const [first] = transcript.questions;
  if (first === undefined) return;
  const seq = transcript.turns.length + 1;
  const message = openaiShape.turn("user", first.text);
  const request = prepare([...view, { source: "message", seq, message, addition: null }]);
  const { questions, inPrompt, withRecall } = await askForEvidence(transcript, request, hits);
  Object.assign(played, { questions, evidence: inPrompt, evidenceWithRecall: withRecall });
}

function nothingPlayed({ scores, strict }: Pick<Played, "scores" | "strict">): Played {
  const counts = { requests: 0, tokens: 0, reused: 0, violations: 0, compactions: 0, peak: 0 };
  const knowledge = { asked: 0, known: 0, recalled: 0, questions: 0, evidence: 0, evidenceWithRecall: 0 };
  const others = { rereads: 0, breaks: 0, summarizerCalls: 0 };
  return Object.assign({ cost: 0, scores, strict, timeline: [] }, counts, knowledge, others);
}

function partsOf(view: View, { meter, fixedTokens }: Transcript): Moment["parts"] {
  const parts = { fixed: fixedTokens, summary: 0, user: 0, assistant: 0, tool: 0 };
  for (const { source, message } of view) {
    const role = openaiShape.role(message);
    parts[source === "summary" ? "summary" : role === "system" ? "fixed" : role] += meter.message(message);
  }
  return parts;
}

/** Charges requests to what was played, with marks where the product sets them: behind the last two passes and at the end. */
function openCashier(played: Played, { meter, fixedTokens }: Transcript, { prices, reads }: CacheRules) {
  const cache = providerCache({ prices, reads });
  /** The last message that each pass has changed, as far as it reached beyond the ones before. */
  let reached: readonly OpenAiMessage[] = [];
  let sent = 0;
  return {
    moment(sentAt: number) {
      const marks = reached.slice(-2);
      return { cache: cache.state(sentAt), prices, marks: reads === "marks" ? marks : null };
    },
    changed(before: View, view: View): void {
      const known = new Set(before.map(({ message }) => message));
      const last = view.findLastIndex(({ message }) => !known.has(message));
      const [newest] = reached.slice(-1);
      const reach = view.findLastIndex(({ message }) => message === newest);
      const standing = reached.filter((message) => view.some((entry) => entry.message === message));
      reached = last > reach ? [...standing, view[last]!.message] : standing;
    },
    aside({ input, output, cached = 0 }: SideCall): void {
      played.cost += (input - cached) * prices.input + cached * prices.cacheRead + output * prices.output;
      played.summarizerCalls++;
    },
    charge(view: View, about: { readonly sentAt: number; readonly output: number }): void {
      const pieces: Piece[] = [{ key: "fixed", tokens: fixedTokens, blocks: 1 }];
      for (const [index, { message }] of view.entries())
        pieces.push({ key: message, tokens: meter.message(message), blocks: blocksIn(view, index) });
      const places = reached.slice(-2).map((message) => view.findIndex((entry) => entry.message === message) + 1);
      const marks = [0, ...places.filter((place) => place > 0), view.length];
      const { cost, reused, fresh } = cache.charge({ ...about, pieces, marks });
      played.cost += cost;
      played.requests++;
      played.tokens += reused + fresh;
      played.reused += reused;
      played.peak = Math.max(played.peak, reused + fresh);
      if (reused < sent) played.breaks++;
      sent = reused + fresh;
    },
  };
}

/** Results that follow each other go into one message, and count once on the way back, as the calls of a message do. */
function blocksIn(view: View, index: number): number {
  const { message } = view[index]!;
  if (openaiShape.role(message) === "tool") {
    const before = view[index - 1];
    return before !== undefined && openaiShape.role(before.message) === "tool" ? 0 : 1;
  }
  const says = message.content == null || message.content.length === 0 ? 0 : 1;
  return says + (openaiShape.calls(message).length > 0 ? 1 : 0);
}

/** A call of the tool that reads history, and what it gives. */
export function readAgain(text: string, id: string, input: object = { id }): readonly OpenAiMessage[] {
  const called = { name: "recall_read", arguments: JSON.stringify(input) };
  return [
    { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: called }] },
    { role: "tool", tool_call_id: id, content: text },
  ];
}

function fetchedAgain(text: string, number: number): View {
  return readAgain(text, `fetch-${number}`, { seq: number }).map((message, half) => ({
    source: "message",
    seq: FETCHED + 2 * number + half,
    message,
    addition: null,
  }));
}
