/** What a turn asks of memory, in the outbox's words: the key is the agent, the payload says how far the log is to be read. */
import type { Job } from "../stores/outbox.ts";

export const MEMORY_QUEUE = "memory";

export type MemoryPayload = { readonly throughSeq: number };
export type MemoryJob = Job<MemoryPayload>;

/** Which thread, of whom, and through where. */
export type MemoryTurn = Pick<MemoryJob, "userId" | "threadId"> & MemoryPayload & { readonly agentName: string };

export function memoryJob({ userId, threadId, agentName, throughSeq }: MemoryTurn): MemoryJob {
  return { queue: MEMORY_QUEUE, key: agentName, userId, threadId, payload: { throughSeq } };
}
