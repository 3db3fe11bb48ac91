/** A request to a compatible endpoint with its client, and what serving it takes. */
import type { Memory } from "palimpsest";
import type { ConfigFile } from "palimpsest/home";
import type { OpenThreadOptions } from "palimpsest/session";
import type { After } from "../http/event-stream.ts";
import type { CompatibleRequest } from "../server/app.ts";
import type { ConversationEmbedding } from "./embedding.ts";
import type { FrontMemory } from "./matching/front-memory.ts";
import type { LiveResponses } from "./openai-responses/live-responses.ts";
import type { RecentRequests } from "./recent-requests.ts";
import type { OpenThreads } from "./threads/claim.ts";
import type { AnswerBounds } from "./wire/bounded-body.ts";
import type { Client } from "./wire/client.ts";
import type { Flight } from "./wire/flight.ts";

export interface CompatibleCall extends CompatibleRequest {
  readonly client: Client;
  /** What a provider's answer to it may take. */
  readonly bounds: AnswerBounds;
}

export interface CompatibleDeps {
  readonly settings: ConfigFile;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly secret: () => Promise<Uint8Array>;
  readonly open: OpenThreads;
  readonly fronts: FrontMemory;
  /** Responses that their clients can ask for again. */
  readonly responses: LiveResponses;
  /** Answers under way, by what was asked. */
  readonly flights: Map<string, Flight>;
  /** What is remembered of users, and the queue that learns; null where the configuration turns memory off. */
  readonly memory: () => Promise<Pick<Memory, "repository" | "queue"> | null>;
  readonly embedding: ConversationEmbedding;
  readonly requests: RecentRequests;
  /** Windows that providers have stated, to any instance. */
  readonly limits: OpenThreadOptions<object>["limits"];
  readonly after: After;
  /** After so long without a word from it, the store is left out. */
  readonly silenceMs: number;
}
