/**
 * A session of the OpenAI Agents SDK on a thread: what was ever said is in its log, what the runner is given is the view that
 * fits the model's window. To pop, to rewind and to clear is to go on in another thread: nothing is lost.
 */
import {
  type AgentInputItem,
  type OpenAIResponsesCompactionArgs,
  type OpenAIResponsesCompactionAwareSession,
  type SessionHistoryRewriteArgs,
  type SessionHistoryRewriteAwareSession,
  type SessionHistoryTransactionArgs,
  type SessionHistoryTransactionAwareSession,
  UserError,
} from "@openai/agents-core";
import { type ResponsesMessage, shapeOf } from "@palimpsest/core/internal/message";
import { heldText } from "palimpsest/internal/stores";
import { continuations, type NamedConversation, replay, writeWhereItStands } from "palimpsest/internal/threads";
import {
  type OpenThread,
  type OpenThreadOptions,
  openThread,
  type SearchOutcome,
  threadDeps,
  type Writer,
} from "palimpsest/session";
import { cutEnd, itemsIn, itemsOf, messageInputs, replaceCalls } from "./history.ts";
import { RULES } from "./rules.ts";
import { applyTransaction } from "./transaction.ts";
import { goOn, say } from "./write.ts";

/** Those of a thread; `sessionId` names it. */
export interface PalimpsestSessionOptions extends Omit<OpenThreadOptions<ResponsesMessage>, "id" | "shape" | "hold"> {
  /** Made up unless given. The session keeps it, whatever is popped or cleared. */
  readonly sessionId?: string | undefined;
}

export class PalimpsestSession
  implements
    SessionHistoryTransactionAwareSession,
    SessionHistoryRewriteAwareSession,
    OpenAIResponsesCompactionAwareSession
{
  readonly #options: PalimpsestSessionOptions;
  readonly #deps: NamedConversation;
  #open: Promise<OpenThread<ResponsesMessage>> | null = null;

  constructor(options: PalimpsestSessionOptions) {
    const { store, userId = store.userId, waitMs = WAIT_MS } = options;
    const deps = threadDeps(userId === store.userId ? store : store.forUser(userId), options.deps);
    this.#options = options;
    this.#deps = { ...deps, name: options.sessionId ?? deps.ids(), waitMs };
  }

  async getSessionId(): Promise<string> {
    return this.#deps.name;
  }

  /** What to show the model: everything, as long as it fits, else a summary of the oldest and the rest verbatim. */
  async getItems(limit?: number): Promise<AgentInputItem[]> {
    const thread = await this.#thread();
    const { messages, sources } = await thread.prompt();
    // The runner adds the next question itself, and drops calls without an answer.
    const items = itemsOf(messages.filter((_, index) => sources[index] !== "added"));
    return limit === undefined ? [...items] : limit <= 0 ? [] : items.slice(-limit);
  }

  /** Everything that was said, hidden or not; what was popped or cleared is in the threads that the session has left. */
  async history(): Promise<AgentInputItem[]> {
    const items: AgentInputItem[] = [];
    const { id } = await this.#thread();
    for await (const record of replay(this.#deps, id)) items.push(...itemsIn(record));
    return items;
  }

  /** The session's threads in order: those it has left, whole, and the one where it stands. */
  async threads(): Promise<readonly string[]> {
    await this.#thread();
    return continuations(this.#deps);
  }

  /** In everything ever said in the thread where it stands. */
  async search(...question: Parameters<OpenThread<ResponsesMessage>["search"]>): Promise<SearchOutcome> {
    return (await this.#thread()).search(...question);
  }

  async addItems(items: AgentInputItem[]): Promise<void> {
    if (items.length > 0) await this.#write((writer) => say(writer, messageInputs(items, this.#newId)));
  }

  async popItem(): Promise<AgentInputItem | undefined> {
    return this.#write(async (writer) => {
      const cut = await cutEnd(this.#deps.store, writer.lease.threadId, 1);
      if (cut !== null) await goOn(this.#deps, writer, cut.continuation);
      return cut?.items[0];
    });
  }

  async clearSession(): Promise<void> {
    await this.#write((writer) => goOn(this.#deps, writer, { keep: 0, say: [] }));
  }

  /** A compaction that the provider made: the session goes on with it, and what it stands for stays in the thread that is left. */
  async replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void> {
    const inputs = messageInputs(items, this.#newId);
    await this.#write((writer) => goOn(this.#deps, writer, { keep: 0, say: inputs }));
  }

  async applyHistoryTransaction(args: SessionHistoryTransactionArgs): Promise<void> {
    await this.#write((writer) => applyTransaction(this.#deps, writer, args));
  }

  /** Calls that are spelled anew, such as after an approval that changed their input. */
  async applyHistoryMutations({ mutations }: SessionHistoryRewriteArgs): Promise<void> {
    await this.#write(async (writer) => {
      const continuation = await replaceCalls(this.#deps.store, writer.lease.threadId, mutations);
      if (continuation !== null) await goOn(this.#deps, writer, continuation);
    });
  }

  /** After each turn: compacts when it is due, or with `force`. Nobody knows what a summarizer of yours was charged: null. */
  async runCompaction({ force = false }: OpenAIResponsesCompactionArgs = {}): Promise<null> {
    const thread = await this.#thread();
    await (force ? thread.compact() : thread.prompt());
    return null;
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    await (await open)?.close();
  }

  readonly #newId = (): string => this.#deps.ids();

  /** Where the session stands, also when somebody else has moved it on. */
  async #thread(): Promise<OpenThread<ResponsesMessage>> {
    const id = (await continuations(this.#deps)).at(-1)!;
    const open = await this.#open;
    if (open?.id === id) return open;
    await open?.close();
    this.#open = this.#openNow(id);
    return this.#open;
  }

  async #openNow(id: string): Promise<OpenThread<ResponsesMessage>> {
    const { sessionId, ...options } = this.#options;
    const opened = await openThread({ rules: RULES, ...options, id, shape: shapeOf("openai-responses") });
    if (opened.kind === "open") return opened.thread;
    this.#open = null;
    const problem = "problem" in opened ? opened.problem : opened.kind;
    throw new UserError(`session ${this.#deps.name} can't be opened: ${problem}`);
  }

  async #write<T>(work: (writer: Writer) => Promise<T>): Promise<T> {
    for (;;) {
      const { id } = await this.#thread();
      const written = await writeWhereItStands(this.#deps, id, work);
      if (written.kind === "written") return written.value;
      if (written.kind === "busy")
        throw new UserError(`session ${this.#deps.name} is held by somebody else${heldText(written)}: try again later`);
    }
  }
}

const WAIT_MS = 5_000;
