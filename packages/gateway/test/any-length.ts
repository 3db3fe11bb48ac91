/**
 * Long conversations through a gateway before a strict provider, with the official clients and their stream helpers: all
 * is sent again with each turn, and the provider refuses and breaks off now and then.
 */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { replay } from "palimpsest/internal/threads";
import { verify } from "palimpsest/session";
import { type BeforeProvider, beforeProvider } from "./before-provider.ts";

export interface LongConversation {
  readonly turns: number;
  readonly window: number;
}

export interface LongReport {
  readonly turns: number;
  readonly asked: number;
  /** Refused for length although they fit, and cut off, as the provider was told to. */
  readonly refused: number;
  readonly cut: number;
  /** Refused for any other reason. */
  readonly invalid: number;
  readonly matches: Readonly<Record<string, number>>;
  readonly compacted: number;
}

/** A client: it keeps its own list and sends all of it. Throws when the stream breaks off. */
interface Talker {
  ask(question: string): Promise<{ readonly heard: string; readonly headers: Headers }>;
  /** What was said and heard, as the log has it. */
  texts(): readonly string[];
}

export const TALKERS: Readonly<Record<string, (served: BeforeProvider) => Talker>> = {
  "chat completions": chatTalker,
  messages: messagesTalker,
  responses: responsesTalker,
};

export async function talkAtLength(
  t: TestContext,
  make: (served: BeforeProvider) => Talker,
  { turns, window }: LongConversation,
): Promise<LongReport> {
  const faulted = { refused: 0, cut: 0 };
  const served = await beforeProvider(t, {
    window,
    record: "verdicts",
    respond: ({ index }) => `answer ${index}: ${"sand and shell. ".repeat(20)}`,
    faults({ index }) {
      if (index % 20 === 19) {
        faulted.cut += 1;
        return { kind: "cut", afterEvents: 6 };
      }
      if (index % 10 !== 9) return undefined;
      faulted.refused += 1;
      return { kind: "overflow" };
    },
  });
  const talker = make(served);
  const matches: Record<string, number> = {};
  let compacted = 0;
  let thread = "";
  for (let turn = 1; turn <= turns; turn += 1) {
    const question = `Question ${turn}: ${"how deep is it there? ".repeat(turn % 9)}`;
    const { headers } = await untilHeard(talker, question);
    const match = headers.get("x-palimpsest-match")!;
    matches[match] = (matches[match] ?? 0) + 1;
    if (headers.get("x-palimpsest-view") === "compacted") compacted += 1;
    thread = headers.get("x-palimpsest-thread")!;
  }
  const invalid = served.provider.requests.filter(({ verdict }) => verdict.kind === "refused").length;
  const log: string[] = [];
  for await (const { body } of replay(served.home, thread)) log.push(textIn(JSON.parse(body)));
  const said = talker.texts();
  const differs = log.findIndex((text, index) => text !== said[index]);
  assert.deepEqual([log.length, log[differs]], [said.length, said[differs]], `the log differs at ${differs}`);
  assert.equal((await verify(served.home, thread)).kind, "whole");
  return { turns, asked: served.provider.requests.length, ...faulted, invalid, matches, compacted };
}

/** A stream that breaks off is asked for again, as it would be without us. */
async function untilHeard(talker: Talker, question: string) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await talker.ask(question);
    } catch (error) {
      if (attempt === 3 || !/terminated|aborted|premature|ECONNRESET|socket|ended without/i.test(String(error)))
        throw error;
    }
  }
}

function textIn(message: unknown): string {
  const { content } = (Array.isArray(message) ? message[0] : message) as { content: string | { text: string }[] };
  return typeof content === "string" ? content : content.map(({ text }) => text).join("");
}

function chatTalker({ url }: BeforeProvider): Talker {
  const { fetch, headers } = noting();
  const client = new OpenAI({ apiKey: "client", baseURL: `${url}/v1`, maxRetries: 0, fetch });
  const messages: OpenAI.ChatCompletionMessageParam[] = [];
  return {
    async ask(question) {
      const system = { role: "system" as const, content: `It is turn ${messages.length}.` };
      const asked = { role: "user" as const, content: question };
      const stream = client.chat.completions.stream({ model: "gpt", messages: [system, ...messages, asked] });
      const heard = (await stream.finalMessage()) as OpenAI.ChatCompletionAssistantMessageParam;
      messages.push(asked, { role: "assistant", content: heard.content ?? "" });
      return { heard: String(heard.content), headers: headers() };
    },
    texts: () => messages.map(({ content }) => String(content)),
  };
}

/** OpenAI's stream helpers don't show the response: its headers are noted on the way. */
function noting() {
  let last = new Headers();
  const noted: typeof fetch = async (...given) => {
    const response = await fetch(...given);
    last = response.headers;
    return response;
  };
  return { fetch: noted, headers: () => last };
}

function messagesTalker({ url }: BeforeProvider): Talker {
  const client = new Anthropic({ apiKey: "client", baseURL: url, maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [];
  return {
    async ask(question) {
      const asked = { role: "user" as const, content: question };
      const stream = client.messages.stream({
        model: "claude",
        max_tokens: 1000,
        system: `It is turn ${messages.length}.`,
        messages: [...messages, asked],
      });
      const { response } = await stream.withResponse();
      const { content } = await stream.finalMessage();
      messages.push(asked, { role: "assistant", content });
      return { heard: textIn({ content }), headers: response.headers };
    },
    texts: () => messages.map(textIn),
  };
}

function responsesTalker({ url }: BeforeProvider): Talker {
  const { fetch, headers } = noting();
  const client = new OpenAI({ apiKey: "client", baseURL: `${url}/v1`, maxRetries: 0, fetch });
  const items: OpenAI.Responses.ResponseInputItem[] = [];
  return {
    async ask(question) {
      const asked = { role: "user" as const, content: question };
      const stream = client.responses.stream({
        model: "gpt",
        instructions: `It is turn ${items.length}.`,
        input: [...items, asked],
        store: false,
      });
      const final = await stream.finalResponse();
      items.push(asked, ...(final.output as OpenAI.Responses.ResponseInputItem[]));
      return { heard: final.output_text, headers: headers() };
    },
    texts: () => items.map(textIn),
  };
}
