/** A long conversation of which a client sends only what is new: it names its last response, and keeps nothing. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type OpenAI from "openai";
import { replay } from "palimpsest/internal/threads";
import { verify } from "palimpsest/session";
import { beforeProvider } from "./before-provider.ts";
import { openaiAt } from "./held-suite.ts";

export interface HeldTurnsReport {
  readonly turns: number;
  readonly asked: number;
  /** Of the bodies that the client sent. */
  readonly largest: number;
  /** Requests whose view hid something. */
  readonly compacted: number;
  /** Refused for any reason but the provider's orders. */
  readonly invalid: number;
  readonly refused: number;
}

/** `model`: `gpt` is of the client's vendor, `claude` is not. */
export async function heldTurns(
  t: TestContext,
  { turns, window, model }: { readonly turns: number; readonly window: number; readonly model: string },
): Promise<HeldTurnsReport> {
  let refused = 0;
  const served = await beforeProvider(t, {
    window,
    record: "verdicts",
    respond: ({ index, turns: said }) =>
      index % 3 === 0 && said.at(-1)?.role === "user"
        ? { text: `I'll sound it (${index}).`, calls: [{ id: `call_${index}`, name: "sound", input: { buoy: index } }] }
        : `answer ${index}: ${"sand and shell. ".repeat(12)}`,
    faults({ index }) {
      if (index % 25 !== 24) return undefined;
      refused += 1;
      return { kind: "overflow" };
    },
  });
  let largest = 0;
  let compacted = 0;
  let threadId = "";
  const noting: typeof fetch = async (...given) => {
    largest = Math.max(largest, String(given[1]?.body ?? "").length);
    const response = await fetch(...given);
    if (response.headers.get("x-palimpsest-view") === "compacted") compacted += 1;
    threadId = response.headers.get("x-palimpsest-thread") ?? threadId;
    return response;
  };
  const client = openaiAt(served.url, "any", noting);
  const tools: OpenAI.Responses.Tool[] = [
    { type: "function", name: "sound", parameters: { type: "object", properties: {} }, strict: false },
  ];
  const said: string[] = [];
  let previous: string | null = null;
  const ask = async (input: string | OpenAI.Responses.ResponseInput) => {
    const asked = { model, input, tools, instructions: `It is turn ${said.length}.`, previous_response_id: previous };
    const answer: OpenAI.Responses.Response = await client.responses.stream(asked).finalResponse();
    previous = answer.id;
    if (answer.output_text !== "") said.push(answer.output_text);
    return answer.output.filter((item) => item.type === "function_call");
  };
  for (let turn = 1; turn <= turns; turn += 1) {
    const question = `Question ${turn}: ${"how deep is it there? ".repeat(turn % 9)}`;
    said.push(question);
    for (let calls = await ask(question); calls.length > 0; ) {
      said.push("4 fathoms");
      calls = await ask(calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "4 fathoms" })));
    }
  }
  const log: string[] = [];
  for await (const { body } of replay(served.home, threadId)) log.push(...textsIn(JSON.parse(body)));
  assert.deepEqual(log, said);
  assert.equal((await verify(served.home, threadId)).kind, "whole");
  assert.equal((await served.home.store.threads()).threads.length, 1);
  const { requests } = served.provider;
  const invalid = requests.filter(({ verdict }) => verdict.kind === "refused").length;
  return { turns, asked: requests.length, largest, compacted, invalid, refused };
}

function textsIn(message: unknown): string[] {
  return [message].flat().flatMap((item) => {
    const { content, output } = item as { content?: string | { text: string }[]; output?: string };
    if (typeof output === "string") return [output];
    return typeof content === "string" ? [content] : (content ?? []).map(({ text }) => text);
  });
}
