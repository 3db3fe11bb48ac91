/** One thread of an agent as a person sees it: what would be sent, what fills it, everything said, and the ways back. */
import type { Window } from "@palimpsest/core/compaction";
import type { Head, MessageRecord } from "@palimpsest/core/log";
import { convert, type Dialect } from "@palimpsest/core/message";
import type { ModelMessage } from "ai";
import { type SearchCover, type SearchHit, searchThread } from "../recall/search.ts";
import { type Forked, fork, type Pinned, pin, redo, type Undone, undo, withWriter } from "../thread/acts.ts";
import { replay } from "../thread/audit.ts";
import { currentThread, type DeletedThread, deleteThread, type FileCopier, forkWithFiles } from "../thread/fork.ts";
import type { Asker } from "../thread/sized-thread.ts";
import { type ThreadPrompt, threadPrompt } from "../thread/thread-prompt.ts";
import type { ThreadDeps, Writer } from "../thread/writer.ts";
import { type Approved, approve, callsOf, pendingIn } from "./approval.ts";
import type { ClientCall } from "./events.ts";

export interface ThreadHandle {
  readonly id: string;
  /** The messages that would be sent now; empty for a thread that isn't there. */
  view(): Promise<readonly ModelMessage[]>;
  /** What fills the window, part by part. */
  context(): Promise<ThreadPrompt | { readonly kind: "missing" }>;
  /** Everything ever said, in order, as given. */
  replay(): AsyncIterable<MessageRecord>;
  /** The same as the AI SDK's messages. */
  messages(): Promise<readonly ModelMessage[]>;
  /**
   * What of it is about the question, best first, whatever was compacted; at most `limit`, 20 unless given. The list says itself
   * (`unindexed`, `building`) what was not searched, where an index is still being built.
   */
  search(question: string, options?: { readonly limit?: number }): Promise<readonly SearchHit[] & SearchCover>;
  /** Takes back the newest prune or compaction, or the one asked for. */
  undo(seq?: number): Promise<Undone | Busy>;
  redo(): Promise<Undone | Busy>;
  /** The calls that wait for a person, with what was answered so far. */
  approvals(): Promise<readonly WaitingCall[]>;
  /** A person's word on one of them; from any process. The next run without a new message goes on from there. */
  approve(callId: string, answer: "yes" | "no", reason?: string): Promise<Approved | Busy>;
  pin(seq: number, on?: "on" | "off"): Promise<Pinned | Busy>;
  /** Shares the records up to `at`, by default all; its files start as a copy of what is there now. */
  fork(options: { readonly as: string; readonly at?: number }): Promise<Forked>;
  /** The thread this conversation goes on in: the newest fork of `regenerate` or `edit`, else this one. A chat keeps its first id. */
  current(): Promise<string>;
  /** For good, with its files, its sub-agents' threads and what was quoted of it elsewhere. What memory has learned stays. */
  delete(): Promise<DeletedThread>;
  /** Title, artifacts, todos and what else middleware keeps. */
  state(): Promise<Head["state"]>;
}

export interface WaitingCall extends ClientCall {
  readonly answer: "yes" | "no" | null;
  /** Why it is asked, where the agent says so; once answered, what the person said. */
  readonly reason: string | null;
}

type Busy = { readonly kind: "busy" };

interface HandleOptions {
  readonly deps: ThreadDeps;
  readonly window: () => Window;
  readonly asker: () => Promise<Asker>;
  readonly files: FileCopier | null;
}

export function threadHandle(id: string, { deps, window, asker, files }: HandleOptions): ThreadHandle {
  const context = async () => {
    const { size, reserve } = window();
    return threadPrompt(deps.store, id, { window: size, reserve, asker: await asker() });
  };
  const held = async <T>(work: (writer: Writer) => Promise<T>): Promise<T | Busy | { readonly kind: "missing" }> => {
    const leased = await withWriter(deps, id, work);
    return leased.kind === "done" ? leased.value : { kind: leased.kind };
  };
  return {
    id,
    context,
    async view() {
      const prompt = await threadPrompt(deps.store, id, { window: window().size });
      return prompt.kind === "prompt" ? asModelMessages(prompt.messages, prompt.dialect) : [];
    },
    replay: () => replay(deps, id),
    messages: () => modelMessages(replay(deps, id)),
    async search(question, { limit } = {}) {
      const outcome = await searchThread(deps.store, id, question, {
        limit,
        tools: deps.tools,
        embedder: deps.embedder,
        onEmbedding: deps.onEmbedding,
      });
      const { unindexed, building } = outcome;
      const cover = { ...(unindexed !== undefined && { unindexed }), ...(building && { building }) };
      return Object.assign(outcome.kind === "found" ? [...outcome.hits] : [], cover);
    },
    undo: (seq) => held((writer) => undo(writer, seq)),
    redo: () => held(redo),
    async approvals() {
      const pending = pendingIn((await deps.store.head(id))?.state ?? {}, id);
      const calls = await callsOf(deps.store, id, pending);
      return calls.map(({ pending: { answer, reason }, ...call }) => ({ ...call, answer, reason }));
    },
    approve: (callId, answer, reason) => held((writer) => approve(writer, { callId, answer, reason })),
    pin: (seq, on) => held((writer) => pin(writer, seq, on)),
    fork: (options) => (files === null ? fork(deps, id, options) : forkWithFiles(deps, id, options, files)),
    delete: () => deleteThread(deps, id, files),
    current: () => currentThread(deps.store, id),
    state: async () => (await deps.store.head(id))?.state ?? {},
  };
}

/** A thread may hold messages of several dialects; neighbors of one are converted together. */
async function modelMessages(records: AsyncIterable<MessageRecord>): Promise<readonly ModelMessage[]> {
  const runs: { readonly dialect: Dialect; readonly messages: object[] }[] = [];
  for await (const { dialect, body } of records) {
    const last = runs.at(-1);
    const message: object = JSON.parse(body);
    if (last?.dialect === dialect) last.messages.push(message);
    else runs.push({ dialect, messages: [message] });
  }
  return runs.flatMap(({ dialect, messages }) => asModelMessages(messages, dialect));
}

/** Core's type names the same fields as the SDK's, read-only. */
function asModelMessages(messages: readonly object[], dialect: Dialect): readonly ModelMessage[] {
  return convert(messages as never, dialect, "ai-sdk") as unknown as readonly ModelMessage[];
}
