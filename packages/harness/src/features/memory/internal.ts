/** What our own packages use of this folder beyond its public names. No promise is made about it. */

export { storeStorage } from "./create-memory.ts";
export { eraseMessage, forgetEverywhere } from "./erase-message.ts";
export { addQuestionEvidence, type EvidenceRequest, type QuestionRequest } from "./evidence.ts";
export { createMemoryQueue, type MemoryJob, type MemoryQueue, type MemoryQueueOptions, memoryJob } from "./queue.ts";
export { checkScope, givenBlockTokens } from "./repository.ts";
export { memoryService } from "./service.ts";
export { correctedHits, forgetThread } from "./source-turns.ts";
export { memoryLogLine } from "./storage.ts";
export type { UpdateOutcome } from "./updater.ts";
