/** The subjects of the page in their order: for each step of the plan, what its figures mean and which of them become rows. */
import { gatewayProxy } from "./gateway-subjects.ts";
import { cost, lab, labQuestions, memory, playback, recall, recallWithFacts, tokens } from "./knowledge-subjects.ts";
import { qualityCost, qualityPrompts, qualityRequest } from "./prompt-subjects.ts";
import { qualitySearch } from "./search-subjects.ts";
import { append, count, partitions, search, startup, summarize, weight } from "./thread-subjects.ts";
import { turn, turnOnPostgres } from "./turn-subjects.ts";
import type { Subject } from "./write.ts";

export const SUBJECTS: readonly Subject[] = [
  qualityPrompts,
  qualityCost,
  qualityRequest,
  qualitySearch,
  turn,
  turnOnPostgres,
  append,
  weight,
  playback,
  tokens,
  recall,
  recallWithFacts,
  memory,
  cost,
  lab,
  labQuestions,
  search,
  partitions,
  count,
  gatewayProxy,
  summarize,
  startup,
];
