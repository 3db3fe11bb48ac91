/**
 * What counting costs after one new message in a thread of 10,000, against counting them all again: ours exactly, and
 * LangChain's own estimate, which its summarizing uses. Interleaved in one run: `npm run bench -- count [--messages N] [--json]`.
 */
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/internal/message";
import { createMeter } from "@palimpsest/core/internal/tokens";
import { counterFor, type ModelCounter } from "palimpsest/models";
import { exactCounterFor } from "../packages/harness/src/models/tokenizers.ts";
import { type Bench, quantile } from "./bench.ts";
import { type LangChainMiddleware, loadMiddleware, toPeer } from "./playback/langchain.ts";

const ROUNDS = 31;
/** A busy machine interrupts long work more than short: the median would flatter the side that does little. */
const LEAST_DISTURBED = 0.1;

const bench: Bench = async (_args, options) => {
  const messages = Number(options["messages"] ?? 10_000);
  const model = { model: "gpt-5.2" };
  const peer = await loadMiddleware();
  return {
    messages,
    exact: measure(messages, await exactCounterFor(model)),
    chars: measure(messages, counterFor(model)),
    ...(peer.kind === "missing" ? { missing: [peer.what] } : { langchain: measurePeer(messages, peer.module) }),
  };
};

export default bench;

function measure(size: number, counter: ModelCounter): object {
  const thread = Array.from({ length: size }, (_, index) => message(index));
  const options = { ...counter, counter: counter.count };
  const kept = createMeter<OpenAiMessage>(openaiShape, options);
  kept.messages(thread);
  const recount: number[] = [];
  const afterOne: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    thread.push(message(size + round));
    afterOne.push(timed(() => kept.messages(thread)));
    recount.push(timed(() => createMeter<OpenAiMessage>(openaiShape, options).messages(thread)));
  }
  const [slow, fast] = [quantile(recount, LEAST_DISTURBED), quantile(afterOne, LEAST_DISTURBED)];
  return { counter: counter.name, recountMs: slow, afterOneMs: fast };
}

function measurePeer(size: number, peer: LangChainMiddleware): object {
  const thread = Array.from({ length: size }, (_, index) => toPeer(peer, message(index)));
  const recount: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    thread.push(toPeer(peer, message(size + round)));
    recount.push(timed(() => peer.langchain.countTokensApproximately(thread)));
  }
  return { counter: "countTokensApproximately", recountMs: quantile(recount, LEAST_DISTURBED) };
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

/** User, call, result, answer in turn, a few hundred characters each. */
function message(index: number): OpenAiMessage {
  const text = `Step ${index}: the build of module ${index % 97} ends with status ${index % 7}. `.repeat(
    1 + (index % 9),
  );
  const id = `call_${index - (index % 4)}`;
  switch (index % 4) {
    case 0:
      return { role: "user", content: text };
    case 1: {
      const call = { name: "bash", arguments: JSON.stringify({ command: text }) };
      return { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: call }] };
    }
    case 2:
      return { role: "tool", tool_call_id: id, content: text };
    default:
      return { role: "assistant", content: text };
  }
}
