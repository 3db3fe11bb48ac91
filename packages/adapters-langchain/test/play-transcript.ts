/**
 * Transcripts played through LangChain's own agent with our middleware: its model gives the transcript's answers, its tools the
 * transcript's results, its checkpointer keeps the state. Every request is judged as a provider would, and afterwards
 * the state and the log must hold everything that was said.
 */
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { MemorySaver } from "@langchain/langgraph";
import type { LangChainMessage, OpenAiMessage } from "@palimpsest/core/internal/message";
import { convert, forRequest, openaiRules, openaiShape, repair, violations } from "@palimpsest/core/internal/message";
import { answerReserve, createMeter } from "@palimpsest/core/internal/tokens";
import { createAgent, createMiddleware } from "langchain";
import { replay } from "palimpsest/internal/threads";
import { exactCounterFor } from "palimpsest/models";
import { openSqlite } from "palimpsest/stores";
import { type PalimpsestMiddlewareOptions, palimpsestMiddleware } from "../src/palimpsest-middleware.ts";

export interface AgentTally {
  requests: number;
  violations: number;
  overWindow: number;
  failed: number;
  hollow: number;
  /** Messages that the state or the log doesn't have at the end. */
  lost: number;
}

export interface AgentPlay {
  readonly window: number;
  readonly writer: NonNullable<PalimpsestMiddlewareOptions["writer"]>;
  /** The writer's summaries say nothing: each that is accepted counts. */
  readonly isHollow: boolean;
}

const RULES = forRequest(openaiRules);

export async function playTranscript(
  given: readonly OpenAiMessage[],
  play: AgentPlay,
  tally: AgentTally,
): Promise<void> {
  const { messages } = repair(given, openaiShape, RULES);
  const spoken = messages.filter(({ role }) => role !== "system");
  const results = new Map<string, string[]>();
  for (const message of spoken)
    if (message.role === "tool")
      results.set(message.tool_call_id!, [...(results.get(message.tool_call_id!) ?? []), text(message)]);
  const counter = await exactCounterFor({ model: "gpt-4o" });
  const meter = createMeter<OpenAiMessage>(openaiShape, { ...counter, counter: counter.count });
  const limit = play.window - answerReserve(play.window, null);
  const store = openSqlite({ path: ":memory:" });
  const model = new TranscriptModel(spoken, (sent) => {
    tally.requests += 1;
    tally.violations += violations(sent, openaiShape, RULES).length;
    if (meter.messages(sent) <= limit) return;
    tally.overWindow += 1;
    throw new Error("400 prompt is too long");
  });
  const agent = createAgent({
    model,
    systemPrompt: messages
      .filter(({ role }) => role === "system")
      .map(text)
      .join("\n"),
    checkpointer: new MemorySaver(),
    middleware: [
      palimpsestMiddleware({
        store,
        window: play.window,
        model: "gpt-4o",
        counter,
        recall: false,
        writer: play.writer,
        onEvent: (event) => {
          if (play.isHollow && event.type === "summary-written" && event.by === "summarize") tally.hollow += 1;
        },
      }),
      answering(results),
    ],
  });
  const config = { configurable: { thread_id: "t" }, recursionLimit: 10_000 };
  let state: readonly BaseMessage[] = [];
  for (const turn of turnsOf(spoken)) {
    try {
      state = (await agent.invoke({ messages: turn.map((message) => new HumanMessage(text(message))) }, config))
        .messages;
    } catch {
      tally.failed += 1;
      break;
    }
  }
  const logged: string[] = [];
  for await (const { body } of replay({ store }, "t"))
    logged.push(...convert([JSON.parse(body)], "langchain", "openai").map(words));
  const kept = (messages: readonly BaseMessage[]): string[] =>
    convert(stored(messages), "langchain", "openai").map(words);
  tally.lost += Math.max(missing(spoken.map(words), logged), missing(spoken.map(words), kept(state)));
  await store.close();
}

const text = ({ content }: OpenAiMessage): string =>
  typeof content === "string" ? content : JSON.stringify(content ?? "");

const stored = (messages: readonly BaseMessage[]): LangChainMessage[] =>
  messages.map((message) => message.toDict()) as unknown as LangChainMessage[];

/** What a message says: its text and its calls. */
const words = (message: OpenAiMessage): string =>
  JSON.stringify([message.role, text(message), (message.tool_calls ?? []).map(({ id }) => id), message.tool_call_id]);

/** How many of them the others don't have, each as often as it was said. */
function missing(said: readonly string[], others: readonly string[]): number {
  const left = Map.groupBy(others, (one) => one);
  return said.filter((one) => left.get(one)?.pop() === undefined).length;
}

/** What a person says before the model is to go on by itself, until it stops calling tools: one run of the agent each. */
function turnsOf(messages: readonly OpenAiMessage[]): OpenAiMessage[][] {
  const turns: OpenAiMessage[][] = [];
  let said: OpenAiMessage[] = [];
  for (const message of messages) {
    if (message.role === "user") said.push(message);
    if (message.role !== "assistant" || (message.tool_calls ?? []).length > 0) continue;
    turns.push(said);
    said = [];
  }
  return said.length > 0 ? [...turns, said] : turns;
}

/** Its tools' results are the transcript's. */
const answering = (results: ReadonlyMap<string, string[]>) =>
  createMiddleware({
    name: "transcript",
    wrapToolCall: async ({ toolCall }) =>
      new ToolMessage({
        content: results.get(toolCall.id!)?.shift() ?? "",
        tool_call_id: toolCall.id!,
        name: toolCall.name,
      }),
  });

class TranscriptModel extends BaseChatModel {
  readonly #answers: OpenAiMessage[];
  readonly #judge: (sent: readonly OpenAiMessage[]) => void;

  constructor(messages: readonly OpenAiMessage[], judge: (sent: readonly OpenAiMessage[]) => void) {
    super({ maxRetries: 0 });
    this.#answers = messages.filter(({ role }) => role === "assistant");
    this.#judge = judge;
  }

  override _llmType(): string {
    return "transcript";
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    this.#judge(convert(stored(messages), "langchain", "openai"));
    const next = this.#answers.shift() ?? { role: "assistant", content: "" };
    const [answer] = convert([next], "openai", "langchain");
    const { type: _, ...fields } = answer as LangChainMessage;
    const message = new AIMessage(fields as never);
    return { generations: [{ text: message.text, message }] };
  }
}
