/** What a turn asks of memory, in the outbox's words: the key is the agent, the payload says how far the log is to be read. */
import type { Job } from "../stores/outbox.ts";

export const MEMORY_QUEUE = "memory";

export type MemoryPayload = { readonly throughSeq: number };
export type MemoryJob = Job<MemoryPayload>;

/** Which thread, of whom, and through where. */
export type MemoryTurn = Pick<MemoryJob, "user" | "thread"> & MemoryPayload & { readonly agent: string };

export function memoryJob({ user, thread, agent, throughSeq }: MemoryTurn): MemoryJob {
  return { queue: MEMORY_QUEUE, key: agent, user, thread, payload: { throughSeq } };
}
