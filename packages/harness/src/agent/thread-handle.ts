/** One thread of an agent as a person sees it: what would be sent, what fills it, everything said, and the ways back. */
import type { Window } from "@palimpsest/core/internal/compaction";
import type { MessageRecord } from "@palimpsest/core/internal/log";
import { convert, type Dialect } from "@palimpsest/core/internal/message";
import type { ModelMessage } from "ai";
import { withWriter } from "../thread/acts.ts";
import { replay } from "../thread/audit.ts";
import { type DeletedThread, deleteThread, type FileCopier, type ThreadActs, threadActs } from "../thread/handle.ts";
import { type Asker, type InspectedPrompt, threadPrompt } from "../thread/sized-thread.ts";
import type { ThreadDeps, Writer } from "../thread/writer.ts";
import { type Approved, approve, type WaitingCall, waitingCalls } from "./approval.ts";

/** The acts of every thread, and what an agent adds: what it would send, and the calls that wait for approval. */
export interface ThreadHandle extends ThreadActs<Busy> {
  readonly id: string;
  /** The messages that would be sent now; empty for a thread that isn't there. */
  view(): Promise<readonly ModelMessage[]>;
  /** What fills the window, part by part. */
  context(): Promise<InspectedPrompt | { readonly kind: "missing" }>;
  /** The same as the AI SDK's messages. */
  messages(): Promise<readonly ModelMessage[]>;
  /** The calls that wait for a person, with what was answered so far. */
  approvals(): Promise<readonly WaitingCall[]>;
  /** A person's word on one of them; from any process. The next run without a new message goes on from there. */
  approve(callId: string, answer: "yes" | "no", reason?: string): Promise<Approved | Busy>;
  /** For good, with its files, its sub-agents' threads and what was quoted of it elsewhere. What memory has learned stays. */
  delete(): Promise<DeletedThread>;
}

type Busy = { readonly kind: "busy" };
type Missing = { readonly kind: "missing" };

interface HandleOptions {
  readonly deps: ThreadDeps;
  readonly window: () => Window;
  readonly asker: () => Promise<Asker>;
  readonly files: FileCopier | null;
}

export function threadHandle(id: string, { deps, window, asker, files }: HandleOptions): ThreadHandle {
  const prompt = (by?: Asker) => {
    const { size, reserve } = window();
    return threadPrompt(deps.store, id, { window: size, reserve, asker: by });
  };
  const held = async <T>(work: (writer: Writer) => Promise<T>): Promise<T | Busy | { readonly kind: "missing" }> => {
    const leased = await withWriter(deps, id, work);
    return leased.kind === "done" ? leased.value : { kind: leased.kind };
  };
  return {
    ...threadActs<Busy | Missing>({ deps, id, files, act: held }),
    id,
    context: async () => prompt(await asker()),
    async view() {
      const shown = await prompt();
      return shown.kind === "prompt" ? asModelMessages(shown.messages, shown.dialect) : [];
    },
    messages: () => modelMessages(replay(deps, id)),
    approvals: () => waitingCalls(deps.store, id),
    approve: (callId, answer, reason) => held((writer) => approve(writer, { callId, answer, reason })),
    delete: () => deleteThread(deps, id, files),
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
