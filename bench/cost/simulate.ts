/**
 * Plays a transcript under a policy: the requests it would have sent, what they cost with the provider's cache, what of
 * the distant uses was still in the prompt, and what had to be fetched again - a request of its own, and the result is
 * written and carried from then on.
 */
import { messageText } from "@palimpsest/core/compaction";
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/message";
import { chargeRequest, costOfSideCall, isCold, type PricedRequest, type Prices } from "@palimpsest/core/pricing";
import type { Policy, View } from "./policy.ts";
import { questionsOf } from "./questions.ts";
import type { Transcript } from "./transcript.ts";

export interface Played {
  /** In the unit of the prices. */
  cost: number;
  /** Distant uses in all, still in the prompt, and else found by recall. */
  asked: number;
  known: number;
  recalled: number;
  /** The largest request, in tokens. */
  peak: number;
  rereads: number;
  /** Requests that reused less than the one before had sent. */
  breaks: number;
  summarizerCalls: number;
}

const ASKING_TOKENS = 60;
/** Seqs of fetched messages: beyond any transcript's own. */
const FETCHED = 1_000_000;

export async function play(transcript: Transcript, policy: Policy, prices: Prices): Promise<Played> {
  const { turns, meter, fixedTokens } = transcript;
  const questions = questionsOf(transcript);
  const played = { cost: 0, asked: 0, known: 0, recalled: 0, peak: 0, rereads: 0, breaks: 0, summarizerCalls: 0 };
  const cashier = chargeInto(played, prices);
  let view: View = [];
  for (const [index, turn] of turns.entries()) {
    if (openaiShape.role(turn.message) === "assistant" && index > 0) {
      const sentAt = turns[index - 1]!.at;
      const prepared = policy.prepare(view, { meter, fixedTokens, cache: cashier.cache(sentAt) });
      view = prepared.view;
      for (const call of prepared.calls) played.cost += costOfSideCall(call, prices);
      played.summarizerCalls += prepared.calls.length;
      const { fetched, asked, known, recalled } = await questions.ask(index, view);
      played.asked += asked;
      played.known += known;
      played.recalled += recalled;
      for (const source of fetched) {
        cashier.charge(requestOf(view, transcript, { sentAt, answeredAt: sentAt, output: ASKING_TOKENS }));
        view = [...view, ...fetchedAgain(turns[source]!.message, played.rereads++)];
      }
      const output = turn.output ?? meter.message(turn.message);
      cashier.charge(requestOf(view, transcript, { sentAt, answeredAt: turn.at, output }));
    }
    view = [...view, { source: "message", seq: index + 1, message: turn.message, lent: null }];
  }
  return played;
}

function chargeInto(played: Played, prices: Prices) {
  let previous: PricedRequest | null = null;
  return {
    cache: (sentAt: number): "cold" | "warm" => {
      return isCold(previous?.answeredAt ?? null, sentAt, prices) ? "cold" : "warm";
    },
    charge(request: PricedRequest): void {
      const { cost, reused, fresh } = chargeRequest(previous, request, prices);
      played.cost += cost;
      played.peak = Math.max(played.peak, reused + fresh);
      if (previous !== null && reused < tokensOf(previous)) played.breaks++;
      previous = request;
    },
  };
}

function requestOf(
  view: View,
  { meter, fixedTokens }: Transcript,
  about: Pick<PricedRequest, "sentAt" | "answeredAt" | "output">,
): PricedRequest {
  const messages = view.map(({ message }) => ({ key: message, tokens: meter.message(message) }));
  return { ...about, pieces: [{ key: "fixed", tokens: fixedTokens }, ...messages] };
}

function tokensOf({ pieces }: PricedRequest): number {
  return pieces.reduce((sum, piece) => sum + piece.tokens, 0);
}

function fetchedAgain(original: OpenAiMessage, number: number): View {
  const id = `fetch-${number}`;
  const input = JSON.stringify({ seq: number });
  const messages: OpenAiMessage[] = [
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name: "recall_read", arguments: input } }],
    },
    { role: "tool", tool_call_id: id, content: messageText(original, openaiShape) },
  ];
  return messages.map((message, half) => ({
    source: "message",
    seq: FETCHED + 2 * number + half,
    message,
    lent: null,
  }));
}
