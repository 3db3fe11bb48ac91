/** What our own packages use of this folder beyond its public names. No promise is made about it. */

export { eraseMessage, forgetEverywhere } from "./erase-message.ts";
export { addQuestionEvidence, type QuestionRequest } from "./evidence.ts";
export { createMemoryQueue } from "./queue.ts";
export { checkScope, givenBlockTokens } from "./repository.ts";
export { memoryService } from "./service.ts";
export { correctedHits, forgetThread } from "./source-turns.ts";
