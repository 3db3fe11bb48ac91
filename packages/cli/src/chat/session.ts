/**
 * A chat's state and what it can do: the agent with its model, the thread, one answer at a time that can be stopped.
 * Knows nothing of keys and little of looks; the screen shows what its runs tell.
 */
import type { AgentEvent, MemoryEvent, RunEnd, WaitingCall } from "palimpsest";
import type { ConfiguredAgent } from "palimpsest/home";
import type { Home } from "palimpsest/internal/home";
import type { Context } from "../command/command.ts";
import { type CallVerdict, ruleNews } from "../home/talk.ts";
import { budgetText, drawBudgetLine, windowText } from "../terminal/budget-bar.ts";
import type { Screen } from "./screen.ts";

export interface ChatSessionOptions {
  readonly context: Context;
  readonly deps: Home;
  readonly screen: Screen;
  readonly threadId: string;
  readonly agentName: string | undefined;
  /** A directory that agents work in instead of the thread's; null: the thread's. */
  readonly workspace: string | null;
  /** For a thread that another run holds. */
  readonly waitMs: number;
  /** The model's window, if not its own. */
  readonly window: number | undefined;
}

interface ToolUse {
  readonly name: string;
  readonly input: unknown;
  readonly output: unknown;
}

export class ChatSession {
  readonly context: Context;
  readonly deps: Home;
  readonly screen: Screen;
  readonly agentName: string | undefined;
  readonly uses: ToolUse[] = [];
  /** What a command wants said next, or offers for changing. */
  next: { readonly kind: "say" | "fill"; readonly text: string } | null = null;
  /** Threads and models as they were listed last: their numbers can be used. */
  readonly listed: { threads: readonly string[]; models: readonly string[] } = { threads: [], models: [] };
  /** Files the next message will mention. */
  readonly uploaded: string[] = [];
  /** Tools the person has allowed for as long as this chat is open. */
  readonly #approved = new Set<string>();
  readonly #waitMs: number;
  readonly #window: number | undefined;
  readonly #workspace: string | null;
  #assistant: ConfiguredAgent | null = null;
  #threadId: string;
  /** What the agent let the person choose from. */
  #choices: readonly string[] = [];
  #stop: AbortController | null = null;
  #streaming = false;
  #memoryFailed = false;
  /** How full the window was when it was looked at last. */
  #fill = "";
  /** What was told outside of a stream is shown in order, before the next line is read. */
  #told: Promise<void> = Promise.resolve();

  constructor({ context, deps, screen, threadId, agentName, waitMs, window, workspace }: ChatSessionOptions) {
    this.#workspace = workspace;
    this.#waitMs = waitMs;
    this.#window = window;
    this.context = context;
    this.deps = deps;
    this.screen = screen;
    this.agentName = agentName;
    this.#threadId = threadId;
  }

  async useModel(name: string | undefined): Promise<void> {
    // A compaction that a person asked for is told outside of any stream.
    const onEvent = (event: AgentEvent): void => {
      if (!this.#streaming) this.#told = this.#told.then(() => this.screen.event(event));
    };
    await this.close(0);
    const { output, verbose } = this.context;
    this.#assistant = await this.deps.agent({
      model: name ?? null,
      window: this.#window,
      workspace: this.#workspace,
      approved: this.#approved,
      ...(!verbose && { onMemory: (event) => this.#noteMemory(event) }),
      onEvent,
      log: output.note,
      verbose,
    });
    await this.#assistant.memory?.queue.start();
    this.#fill = windowText(this.#assistant.model.window.tokens);
  }

  /** What is learned in the background is not the conversation: of its failures one sentence, once. */
  #noteMemory({ type }: MemoryEvent): void {
    if (type !== "memory-failed" || this.#memoryFailed) return;
    this.#memoryFailed = true;
    this.context.output.note('(something could not be learned for memory; "palimpsest doctor" says what and why)');
  }

  /** Learns what is still to be learned from the chat, for so long at most. */
  async close(limitMs: number): Promise<void> {
    await this.#assistant?.memory?.close(limitMs);
  }

  get assistant(): ConfiguredAgent {
    if (this.#assistant === null) throw new TypeError("a session needs a model first");
    return this.#assistant;
  }

  get threadId(): string {
    return this.#threadId;
  }

  goTo(threadId: string): void {
    this.#threadId = threadId;
    this.#choices = [];
    this.uploaded.length = 0;
  }

  /** Says something and shows the answer; resolves when it has ended, however it did. */
  async say(text: string): Promise<RunEnd> {
    const files = this.uploaded.splice(0);
    const chosen = this.#choices[Number(text.trim()) - 1] ?? text;
    const end = await this.#run(files.length === 0 ? chosen : `${chosen}\n\n(Uploaded: ${files.join(", ")})`);
    const command = (act: string, id: string) => `/rules ${act} ${id}`;
    const thread = this.threadId;
    const news =
      end.kind === "busy"
        ? []
        : await ruleNews(this.deps, { thread, text: chosen, signal: this.context.signal, command });
    for (const line of news) await this.screen.aside(line);
    return end;
  }

  /** The next tool call that waits for the person's word; null: none does. */
  async waiting(): Promise<WaitingCall | null> {
    const calls = await this.assistant.agent.thread(this.threadId).approvals();
    return calls.find(({ answer }) => answer === null) ?? null;
  }

  /** Keeps the person's word on a call; once none waits, the agent goes on. */
  async decide({ id, name }: WaitingCall, verdict: CallVerdict): Promise<RunEnd | "others-wait" | "busy"> {
    if (verdict === "always") this.#approved.add(name);
    const handle = this.assistant.agent.thread(this.threadId);
    const approved = await handle.approve(id, verdict === "no" ? "no" : "yes");
    if (approved.kind === "busy") return "busy";
    for (const call of await handle.approvals())
      if (call.answer === null && this.#approved.has(call.name)) await handle.approve(call.id, "yes");
    return (await this.waiting()) === null ? this.#run(undefined) : "others-wait";
  }

  /** Without a prompt: goes on from where it waited. */
  async #run(prompt: string | undefined): Promise<RunEnd> {
    this.#streaming = true;
    try {
      return await this.interruptible((signal) => this.#answer(prompt, signal), "thinking");
    } finally {
      this.#streaming = false;
    }
  }

  /** Work that Ctrl-C stops. */
  async interruptible<T>(work: (signal: AbortSignal) => Promise<T>, phase: "thinking" | "compacting"): Promise<T> {
    const stop = new AbortController();
    this.#stop = stop;
    this.screen.begin(phase, this.#fill);
    try {
      return await work(AbortSignal.any([stop.signal, this.context.signal]));
    } finally {
      this.#stop = null;
      await this.#told;
      this.screen.rest();
    }
  }

  stop(): void {
    this.#stop?.abort();
  }

  get isAsked(): boolean {
    return this.#choices.length > 0;
  }

  /** What fills the window, as one line; null while nothing was said. */
  async budget(): Promise<string | null> {
    const prompt = await this.assistant.agent.thread(this.threadId).context();
    if (prompt.kind === "missing") return null;
    this.#fill = budgetText(prompt.breakdown.total, prompt.breakdown.window);
    return drawBudgetLine(prompt.breakdown, { color: this.screen.color, width: this.screen.width });
  }

  async #answer(prompt: string | undefined, signal: AbortSignal): Promise<RunEnd> {
    const { agent } = this.assistant;
    const { threadId, agentName } = this;
    const stream = agent.stream({
      threadId,
      agentName,
      signal,
      waitMs: this.#waitMs,
      prompt,
    });
    const inputs = new Map<string, unknown>();
    this.uses.length = 0;
    for await (const event of stream) {
      if (event.type === "tool-start") inputs.set(event.callId, event.input);
      if (event.type === "tool-end")
        this.uses.push({ name: event.name, input: inputs.get(event.callId), output: event.output });
      await this.screen.event(event);
    }
    await this.screen.settle();
    const { end } = await stream.result;
    this.#choices = end.kind === "asked" ? end.options : [];
    return end;
  }
}
