/** The embedder that a configuration asks for, with its account: what it takes is noted with the thread it was asked for. */

import { configuredEmbedder } from "../models/configured-embedder.ts";
import { NO_USAGE } from "../models/facts.ts";
import type { EmbeddingEvent, OnEmbedding } from "../recall/embedder.ts";
import type { ThreadDeps } from "../thread/writer.ts";
import { noteCharge } from "./cost.ts";
import type { ConfigFile } from "./schema.ts";

export type HomeEmbedding = Pick<ThreadDeps, "embedder" | "onEmbedding">;

/** Without one: nothing, and hits are ordered by words alone. */
export function configuredEmbedding(
  home: string,
  { recall }: Pick<ConfigFile, "recall">,
  onError: (text: string) => void = () => {},
): HomeEmbedding {
  if (recall.embedder === null) return {};
  return {
    embedder: configuredEmbedder(recall.embedder),
    onEmbedding(event, ...asked) {
      noteEmbedding(home, event, ...asked);
      if (event.type === "embedding-failed") onError(embeddingLogLine(event));
    },
  };
}

export function noteEmbedding(home: string, event: EmbeddingEvent, ...[id, user]: Tail<Parameters<OnEmbedding>>): void {
  if (event.type !== "embedding-usage" || id === null) return;
  const { model, calls, tokens } = event;
  noteCharge(home, { user, id }, { use: "embeddings", model, calls, ...NO_USAGE, input: tokens });
}

type Tail<T extends readonly unknown[]> = T extends readonly [unknown, ...infer R] ? R : never;

export function embeddingLogLine(event: EmbeddingEvent): string {
  return event.type === "embedding-failed"
    ? `recall: the embedder ${event.model} failed, hits are ordered by words alone until it works again: ${event.reason}`
    : `recall: the embedder ${event.model} took ${event.tokens} tokens in ${event.calls} calls`;
}
