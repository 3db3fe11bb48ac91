/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { correctedHits } from "./corrected-hits.ts";
export { eraseMessage } from "./erase-message.ts";
export { forgetEverywhere } from "./forget-everywhere.ts";
export { addQuestionEvidence, type QuestionRequest } from "./question-evidence.ts";
export { createMemoryQueue } from "./queue.ts";
export { checkScope } from "./scope.ts";
export { memoryService } from "./service.ts";
export { forgetThread } from "./source-turns.ts";
export { givenBlockTokens } from "./stable-lane.ts";
