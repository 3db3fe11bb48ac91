/** One conversation of an editor: a thread, the agent that works in the editor's folder, and at most one prompt under way. */

import { randomUUID } from "node:crypto";
import type { AgentContext, ContentBlock, McpServer, PromptResponse, SessionUpdate } from "@agentclientprotocol/sdk";
import { readStored } from "@palimpsest/core/internal/message";
import type { Middleware, ThreadHandle, WaitingCall } from "palimpsest";
import type { ConfiguredAgent } from "palimpsest/home";
import { compactInHome, mcpTools, takeBackInHome } from "palimpsest/internal/assistant";
import type { Home } from "palimpsest/internal/home";
import { redo, undo } from "palimpsest/internal/threads";
import { editorServers, replayed, text, userMessage, wordsOf } from "./content.ts";
import { ASKED_TOOLS, createUpdates, ended, promptEnd, titleOf } from "./updates.ts";

export interface AcpSessionOptions {
  readonly home: Home;
  readonly threadId: string;
  readonly cwd: string;
  readonly servers: readonly McpServer[];
  /** Whether the editor shows compactions. */
  readonly compactions: boolean;
  readonly client: AgentContext;
  readonly warn: (text: string) => void;
}

export const COMMANDS = [
  { name: "compact", description: "Sum the conversation up now", input: { hint: "what must be kept" } },
  { name: "undo", description: "Take back the newest compaction" },
  { name: "redo", description: "Do again what was taken back" },
];

export class AcpSession {
  readonly threadId: string;
  readonly #options: AcpSessionOptions;
  readonly #approved = new Set<string>();
  #assistant: Promise<ConfiguredAgent> | null = null;
  #stop: AbortController | null = null;

  constructor(options: AcpSessionOptions) {
    this.threadId = options.threadId;
    this.#options = options;
  }

  get folder(): string {
    return this.#options.cwd;
  }

  /** The conversation so far, as it would have been shown while it went on. */
  async replay(): Promise<void> {
    const { home } = this.#options;
    for await (const { record } of home.store.records(this.threadId, { kinds: ["message"] })) {
      if (record.kind !== "message") continue;
      const { shape, message } = readStored(record);
      for (const update of replayed(shape.role(message), shape.parts(message))) await this.#tell(update);
    }
  }

  async prompt(blocks: readonly ContentBlock[]): Promise<PromptResponse> {
    if (this.#stop !== null) throw new Error("a prompt of this session is being answered: cancel it first");
    const stop = new AbortController();
    this.#stop = stop;
    try {
      const reason = (await this.#command(wordsOf(blocks), stop.signal)) ?? (await this.#answer(blocks, stop.signal));
      await this.#tellUsage();
      return { stopReason: reason };
    } finally {
      this.#stop = null;
    }
  }

  cancel(): void {
    this.#stop?.abort();
  }

  async close(withinMs: number): Promise<void> {
    this.cancel();
    const assistant = await this.#assistant?.catch(() => null);
    await assistant?.memory?.close(withinMs);
    await assistant?.agent.close();
    await assistant?.disconnect();
  }

  async #answer(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse["stopReason"]> {
    const { agent } = await this.#agent();
    const { compactions } = this.#options;
    const { threadId } = this;
    let messages = [userMessage(blocks)];
    for (;;) {
      const updates = createUpdates({ compactions, ids: randomUUID });
      const stream = agent.stream({ threadId, signal, ...(messages.length > 0 && { messages }) });
      for await (const event of stream) for (const update of updates(event)) await this.#tell(update);
      const end = promptEnd((await stream.result).end);
      if (end.kind === "stop") return end.reason;
      if (end.kind === "failed") throw new Error(end.message);
      if (!(await this.#decide(agent.thread(threadId), signal))) return "cancelled";
      messages = [];
    }
  }

  /** False: the prompt was canceled instead; the calls go on waiting, and the next prompt denies them. */
  async #decide(thread: ThreadHandle, signal: AbortSignal): Promise<boolean> {
    for (const call of await thread.approvals()) {
      if (call.answer !== null) continue;
      const word = this.#approved.has(call.name) ? "allow" : await this.#ask(call, signal);
      if (word === null) return false;
      if (word === "always") this.#approved.add(call.name);
      await thread.approve(call.id, word === "allow" || word === "always" ? "yes" : "no");
    }
    return true;
  }

  async #ask({ id, name, input }: WaitingCall, signal: AbortSignal): Promise<string | null> {
    const { client } = this.#options;
    const asked = client.request(
      "session/request_permission",
      {
        sessionId: this.threadId,
        toolCall: { toolCallId: id, title: titleOf(name, input), name, status: "pending", rawInput: input },
        options: [
          { optionId: "allow", name: "Allow", kind: "allow_once" },
          { optionId: "always", name: `Always allow ${name}`, kind: "allow_always" },
          { optionId: "reject", name: "Don't", kind: "reject_once" },
        ],
      },
      { cancellationSignal: signal },
    );
    const gone = new Promise<null>((resolve) => signal.addEventListener("abort", () => resolve(null), { once: true }));
    // An editor that cancels need not answer what it was asked.
    const answer = await Promise.race([asked.catch(canceled(signal)), gone]);
    return answer?.outcome.outcome === "selected" ? answer.outcome.optionId : null;
  }

  /** Null: it is no command. */
  async #command(words: string, signal: AbortSignal): Promise<PromptResponse["stopReason"] | null> {
    const said = words.trim();
    const name = /^\/(compact|undo|redo)(?=\s|$)/.exec(said)?.[1];
    if (name === undefined) return null;
    const { home } = this.#options;
    if (name === "compact") {
      const focus = said.slice("/compact".length).trim();
      const outcome = await compactInHome(home, this.threadId, {
        dryRun: false,
        signal,
        focus: focus === "" ? undefined : focus,
      });
      if (outcome.kind === "missing") await this.#say("There is nothing to compact yet.");
      else {
        const { summary, error, status } = ended(outcome);
        await this.#say(summary?.[0]?.text ?? error ?? status);
      }
      return signal.aborted ? "cancelled" : "end_turn";
    }
    const act = name === "undo" ? (writer: Parameters<typeof undo>[0]) => undo(writer) : redo;
    const leased = await takeBackInHome(home, this.threadId, act, () => {});
    const done = leased.kind === "done" ? leased.value.kind : leased.kind;
    await this.#say(done === "undone" || done === "redone" ? `Done: ${done}.` : `Nothing was changed: ${done}.`);
    return "end_turn";
  }

  #say(words: string): Promise<void> {
    return this.#tell({ sessionUpdate: "agent_message_chunk", content: text(words) });
  }

  #tell(update: SessionUpdate): Promise<void> {
    return this.#options.client.notify("session/update", { sessionId: this.threadId, update });
  }

  async #tellUsage(): Promise<void> {
    const { home } = this.#options;
    const { agent } = await this.#agent();
    const thread = agent.thread(this.threadId);
    const prompt = await thread.context();
    if (prompt.kind === "missing") return;
    const { total, window } = prompt.breakdown;
    const cost = (await home.configuration()) === null ? null : await home.cost(this.threadId);
    await this.#tell({
      sessionUpdate: "usage_update",
      used: total,
      size: window,
      ...(cost !== null && { cost: { amount: cost.spent, currency: "USD" } }),
    });
    const { title } = await thread.state();
    if (typeof title === "string") await this.#tell({ sessionUpdate: "session_info_update", title });
  }

  #agent(): Promise<ConfiguredAgent> {
    this.#assistant ??= this.#open();
    return this.#assistant;
  }

  async #open(): Promise<ConfiguredAgent> {
    const { home, cwd, servers, warn } = this.#options;
    const approved = this.#approved;
    const given = mcpTools(editorServers(servers, warn), { approved, onWarning: warn });
    const assistant = await home.agent({
      workspace: cwd,
      approved,
      asked: ASKED_TOOLS,
      middleware: [noteFolder(cwd), ...(given === null ? [] : [given])],
      log: warn,
    });
    await assistant.memory?.queue.start();
    return assistant;
  }
}

/** Where an editor's session works, for the list of sessions of an agent that starts later. */
function noteFolder(cwd: string): Middleware {
  return {
    name: "editor-folder",
    async beforeAgent(run) {
      if (folderIn(run.thread.head().state) === cwd) return;
      await run.commit([{ kind: "state", patch: { editorFolder: cwd } }]);
    },
  };
}

/** Null for a thread that no editor has worked in. */
export function folderIn(state: Readonly<Record<string, unknown>> | undefined): string | null {
  const folder = state?.["editorFolder"];
  return typeof folder === "string" ? folder : null;
}

function canceled(signal: AbortSignal): (error: unknown) => null {
  return (error) => {
    if (signal.aborted) return null;
    throw error;
  };
}
