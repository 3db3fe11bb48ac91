/** The official client's tool runner over a thread that is held here: only what is new is sent, for as many turns as one likes. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { replay } from "palimpsest/internal/threads";
import { verify } from "palimpsest/session";
import { type BeforeProvider, type BeforeProviderOptions, beforeProvider } from "./before-provider.ts";

export interface RunnerReport {
  readonly turns: number;
  /** Requests of the client, and the largest of them in bytes. */
  readonly sent: number;
  readonly largest: number;
  readonly asked: number;
  readonly invalid: number;
  readonly compacted: number;
  readonly matches: Readonly<Record<string, number>>;
}

interface Running {
  readonly model: string;
  readonly turns: number;
  readonly stream: boolean;
}

export const SOUND_TOOL = { name: "sound", input_schema: { type: "object" as const, properties: {} } };

/** Each turn: a question, a call of a tool, its result, an answer. */
export async function runTools(
  t: TestContext,
  { model, turns, stream }: Running,
  options: BeforeProviderOptions,
): Promise<RunnerReport> {
  const served = await beforeProvider(t, { record: "verdicts", respond: soundThenSay, ...options });
  const noted = notingFetch();
  const client = new Anthropic({ apiKey: "client", baseURL: served.url, maxRetries: 0, fetch: noted.fetch });
  const system = [
    { type: "text" as const, text: "You sound the depth.", cache_control: { type: "ephemeral" as const } },
  ];
  const sounded: number[] = [];
  const tool = {
    ...SOUND_TOOL,
    parse: (input: unknown) => input,
    run: async () => `${sounded.push(0)} fathoms. ${"sand ".repeat(60)}`,
  };
  const thread = client.beta.messages.thread({ model, max_tokens: 500, system, tools: [tool] });
  const said: string[] = [];
  for (let turn = 1; turn <= turns; turn += 1) {
    const question = `Question ${turn}: how deep is it there?`;
    thread.append({ role: "user", content: question });
    const runner = stream ? thread.toolRunner({ stream: true }) : thread.toolRunner();
    const last = await runner.runUntilDone();
    const [block] = last.content.filter(({ type }) => type === "text");
    said.push(question, block?.type === "text" ? block.text : "");
  }
  assert.equal(sounded.length, turns);
  await assertKept(served, noted.thread(), said);
  const invalid = served.provider.requests.filter(({ verdict }) => verdict.kind === "refused").length;
  return { turns, ...noted.report(), asked: served.provider.requests.length, invalid };
}

function soundThenSay({
  index,
  turns,
}: {
  readonly index: number;
  readonly turns: readonly { readonly role: string }[];
}) {
  return turns.at(-1)?.role === "tool"
    ? `Answer ${index}: deep enough. ${"shell ".repeat(30)}`
    : { text: "I'll look.", calls: [{ id: `c${index}`, name: "sound", input: { buoy: index } }] };
}

/** What was asked and answered stands in the log, in order. */
async function assertKept({ home }: BeforeProvider, thread: string, said: readonly string[]): Promise<void> {
  const log: string[] = [];
  for await (const { body } of replay(home, thread)) {
    const { content } = JSON.parse(body) as { content: string | { type: string; text?: string }[] };
    if (typeof content === "string") log.push(content);
    else if (content.every(({ type }) => type === "text")) log.push(content.map(({ text }) => text).join(""));
  }
  assert.deepEqual(log, said);
  assert.equal((await verify(home, thread)).kind, "whole");
}

function notingFetch() {
  let [sent, largest, compacted, thread] = [0, 0, 0, ""];
  const matches: Record<string, number> = {};
  const noted: typeof fetch = async (url, init) => {
    sent += 1;
    largest = Math.max(largest, String(init?.body ?? "").length);
    const response = await fetch(url, init);
    const match = response.headers.get("x-palimpsest-match") ?? String(response.status);
    matches[match] = (matches[match] ?? 0) + 1;
    if (response.headers.get("x-palimpsest-view") === "compacted") compacted += 1;
    thread = response.headers.get("x-palimpsest-thread") ?? thread;
    return response;
  };
  return { fetch: noted, thread: () => thread, report: () => ({ sent, largest, compacted, matches }) };
}
