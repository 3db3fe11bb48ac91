/** The official clients on one small port, before a gateway that offers tools of ours. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import type { PlayedAnswer, ProviderRequest } from "@palimpsest/testing";
import OpenAI from "openai";
import { replay } from "palimpsest/internal/threads";
import { verify } from "palimpsest/session";
import { type BeforeProvider, type BeforeProviderOptions, beforeProvider } from "./before-provider.ts";

export const ON = "gateway: {tools: true}\nmemory: {enabled: false}\n";
export const OURS = ["notes", "new_context", "context_remaining", "checkpoint", "fold", "recall", "recall_read"];

/** What a client has of an answer, whatever its protocol. */
export interface Seen {
  readonly id: string;
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string }[];
  readonly usage: { readonly input: number; readonly output: number };
  readonly headers: Headers;
}

interface Client {
  /** Adds a question to the conversation and hears the answer. */
  say(text: string): Promise<Seen>;
  /** Sends the last request, which failed, once more. */
  again(): Promise<Seen>;
  /** Answers the calls of the client's own tool. */
  result(seen: Seen, text: string): Promise<Seen>;
}

interface ClientOptions {
  readonly stream: boolean;
  readonly tools?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly more?: object;
}

type Connect = (url: string, options: ClientOptions) => Client;

const schema = { type: "object" as const, properties: {} };

export const chat: Connect = (url, { stream, tools = [], headers: sent = {}, more = {} }) => {
  const client = new OpenAI({ apiKey: "k", baseURL: `${url}/v1`, maxRetries: 0, defaultHeaders: sent });
  const messages: OpenAI.ChatCompletionMessageParam[] = [];
  const own = tools.map((name) => ({ type: "function" as const, function: { name, parameters: schema } }));
  const ask = async (): Promise<Seen> => {
    const body = { model: "gpt", messages, ...(own.length > 0 && { tools: own }), ...more };
    const called = stream
      ? client.chat.completions.stream({ ...body, stream: true, stream_options: { include_usage: true } })
      : null;
    const whole = called === null ? await client.chat.completions.create({ ...body }).withResponse() : null;
    const completion = whole?.data ?? (await called!.finalChatCompletion());
    const { message } = (completion as OpenAI.ChatCompletion).choices[0]!;
    messages.push(message);
    const { prompt_tokens: input, completion_tokens: output } = (completion as OpenAI.ChatCompletion).usage!;
    return {
      id: completion.id,
      text: message.content ?? "",
      calls: (message.tool_calls ?? []).flatMap((one) =>
        one.type === "function" ? [{ id: one.id, name: one.function.name }] : [],
      ),
      usage: { input, output },
      headers: whole?.response.headers ?? new Headers(),
    };
  };
  return {
    again: ask,
    say(text) {
      messages.push({ role: "user", content: text });
      return ask();
    },
    result({ calls }, text) {
      for (const { id } of calls) messages.push({ role: "tool", tool_call_id: id, content: text });
      return ask();
    },
  };
};

export const anthropic: Connect = (url, { stream, tools = [], headers: sent = {}, more = {} }) => {
  const client = new Anthropic({ apiKey: "k", baseURL: url, maxRetries: 0, defaultHeaders: sent });
  const messages: Anthropic.MessageParam[] = [];
  const own = tools.map((name) => ({ name, input_schema: schema }));
  const ask = async (): Promise<Seen> => {
    const body = { model: "claude", max_tokens: 500, messages, ...(own.length > 0 && { tools: own }), ...more };
    const whole = stream ? null : await client.messages.create(body).withResponse();
    const message = whole?.data ?? (await client.messages.stream(body).finalMessage());
    messages.push({ role: "assistant", content: message.content });
    return {
      id: message.id,
      text: message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n"),
      calls: message.content.flatMap((block) =>
        block.type === "tool_use" ? [{ id: block.id, name: block.name }] : [],
      ),
      usage: { input: message.usage.input_tokens, output: message.usage.output_tokens },
      headers: whole?.response.headers ?? new Headers(),
    };
  };
  return {
    again: ask,
    say(text) {
      messages.push({ role: "user", content: text });
      return ask();
    },
    result({ calls }, text) {
      messages.push({
        role: "user",
        content: calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: text })),
      });
      return ask();
    },
  };
};

/** `held`: the client names the response before instead of sending all again. */
export const responses =
  (held: boolean): Connect =>
  (url, { stream, tools = [], headers: sent = {}, more = {} }) => {
    const client = new OpenAI({ apiKey: "k", baseURL: `${url}/v1`, maxRetries: 0, defaultHeaders: sent });
    let items: OpenAI.Responses.ResponseInputItem[] = [];
    let previous: string | null = null;
    const own = tools.map((name) => ({ type: "function" as const, name, parameters: schema, strict: false }));
    const ask = async (): Promise<Seen> => {
      const place = held ? { previous_response_id: previous } : { store: false };
      const body = { model: "gpt", input: items, ...place, ...(own.length > 0 && { tools: own }), ...more };
      const whole = stream ? null : await client.responses.create(body).withResponse();
      const response = whole?.data ?? (await client.responses.stream(body).finalResponse());
      assert.deepEqual(
        response.tools.map((tool) => ("name" in tool ? tool.name : "")),
        tools,
      );
      previous = response.id;
      items = held ? [] : [...items, ...(response.output as OpenAI.Responses.ResponseInputItem[])];
      const said = response.output.flatMap((item) => (item.type === "message" ? item.content : []));
      return {
        id: response.id,
        text: said.map((part) => (part.type === "output_text" ? part.text : "")).join("\n\n"),
        calls: response.output.flatMap((item) =>
          item.type === "function_call" ? [{ id: item.call_id, name: item.name }] : [],
        ),
        usage: { input: response.usage!.input_tokens, output: response.usage!.output_tokens },
        headers: whole?.response.headers ?? new Headers(),
      };
    };
    return {
      again: ask,
      say(text) {
        items.push({ role: "user", content: text });
        return ask();
      },
      result({ calls }, text) {
        for (const { id } of calls) items.push({ type: "function_call_output", call_id: id, output: text });
        return ask();
      },
    };
  };

export const CLIENTS: readonly (readonly [string, Connect])[] = [
  ["chat completions", chat],
  ["messages", anthropic],
  ["responses", responses(false)],
  ["stored responses", responses(true)],
];

export const note = (text: string, revision = 0) => ({ act: "write", name: "plan", text, revision });

/** Plays its answers in order; the last one again and again. */
export function playing(...answers: readonly (string | PlayedAnswer)[]) {
  return ({ index }: ProviderRequest) => answers[Math.min(index, answers.length - 1)]!;
}

export const call = (id: string, name: string, input: object = {}) => ({ id, name, input });

export function served(t: TestContext, respond: BeforeProviderOptions["respond"], more: BeforeProviderOptions = {}) {
  return beforeProvider(t, { respond: respond!, config: ON, ...more });
}

export async function logOf({ home }: BeforeProvider, id: string): Promise<string[]> {
  assert.equal((await verify(home, id)).kind, "whole");
  const bodies: string[] = [];
  for await (const { body } of replay(home, id)) bodies.push(body);
  return bodies;
}

export async function onlyThread({ home }: BeforeProvider): Promise<string> {
  const { threads } = await home.store.threads();
  assert.equal(threads.length, 1, "nothing was forked");
  return threads[0]!.header.id;
}

export const refusals = ({ provider }: BeforeProvider) =>
  provider.requests.filter(({ verdict }) => verdict.kind === "refused");
