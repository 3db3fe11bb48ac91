import assert from "node:assert/strict";
import { test } from "node:test";
import { APICallError } from "@ai-sdk/provider";
import { agentKit } from "../../test/agent/agent-kit.ts";
import { RETRY_DEFAULTS, retryDelay } from "./run.ts";

function status(statusCode: number | undefined, responseHeaders: Record<string, string> = {}): APICallError {
  const told = statusCode === undefined ? { isRetryable: true } : { statusCode };
  return new APICallError({
    message: `status ${statusCode}`,
    url: "",
    requestBodyValues: {},
    responseHeaders,
    ...told,
  });
}

const at = { policy: RETRY_DEFAULTS, now: Date.parse("2026-01-01T00:00:00Z"), random: 0.5 };

test("rate limits, overload and lost connections are worth another try, other refusals are not", () => {
  for (const code of [408, 429, 500, 502, 503, 529, undefined]) assert.notEqual(retryDelay(status(code), 1, at), null);
  for (const code of [400, 401, 403, 404, 413, 422]) assert.equal(retryDelay(status(code), 1, at), null);
  assert.equal(retryDelay(new Error("boom"), 1, at), null);
});

test("pauses double and end after the last try", () => {
  const pauses = [1, 2, 3, 4, 5].map((attempt) => retryDelay(status(503), attempt, at));
  assert.deepEqual(pauses, [1000, 2000, 4000, 8000, null]);
});

test("the pause the provider asks for is kept, in milliseconds, seconds or as a date", () => {
  assert.equal(retryDelay(status(429, { "Retry-After-Ms": "250" }), 1, at), 250);
  assert.equal(retryDelay(status(429, { "retry-after": "7" }), 1, at), 7000);
  assert.equal(retryDelay(status(429, { "retry-after": "Thu, 01 Jan 2026 00:00:09 GMT" }), 1, at), 9000);
  assert.equal(retryDelay(status(429, { "retry-after": "3600" }), 1, at), null);
  assert.equal(retryDelay(status(429, { "retry-after": "soon" }), 1, at), 1000);
});

test("a rate limit is waited out, visibly, and the answer comes", async () => {
  const slept: number[] = [];
  const script = [{ error: status(429, { "retry-after": "3" }) }, { error: status(503) }, "here"];
  const kit = agentKit(script, { sleep: async (ms) => void slept.push(ms), random: () => 0.5 });
  assert.equal((await kit.agent.generate({ threadId: "t", prompt: "hi" })).text, "here");
  assert.deepEqual(slept, [3000, 2000]);
  assert.deepEqual(
    kit.of("model-retry").map(({ attempt, delayMs }) => [attempt, delayMs]),
    [
      [1, 3000],
      [2, 2000],
    ],
  );
  assert.equal((await kit.said()).length, 2);
});

test("when all tries fail the run fails, and the same thread goes on later", async () => {
  let down = true;
  const kit = agentKit(() => (down ? { error: status(500) } : "up again"), { sleep: async () => {} });
  await assert.rejects(kit.agent.generate({ threadId: "t", prompt: "hi" }), { code: "model-failed" });
  assert.equal(kit.model.calls.length, 5);
  down = false;
  // Without a new prompt: the one in the log is answered.
  assert.equal((await kit.agent.generate({ threadId: "t" })).text, "up again");
  assert.equal((await kit.said()).length, 2);
});

test("an abort ends the wait", async () => {
  const stop = new AbortController();
  const kit = agentKit([{ error: status(503) }], {
    sleep: (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        stop.abort();
      }),
  });
  const { end } = await kit.agent.stream({ threadId: "t", prompt: "hi", signal: stop.signal }).result;
  assert.deepEqual(end, { kind: "aborted" });
});

test("what was shown is never said twice: a failure after the first words is not retried", async () => {
  const kit = agentKit([{ text: "some words", ends: { by: "error", error: status(503) } }, "more"], {
    sleep: async () => {},
  });
  const { end, text } = await kit.agent.stream({ threadId: "t", prompt: "hi" }).result;
  assert.deepEqual([end.kind, text, kit.model.calls.length], ["failed", "some words", 1]);
});
