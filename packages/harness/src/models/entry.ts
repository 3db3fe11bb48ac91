/** The part of a configuration that models need, so that a program without a file can write it down as well. */
import type { ConfigFile } from "../home/schema.ts";

export type ModelEntry = ConfigFile["models"][number];
export type EmbedderEntry = NonNullable<ConfigFile["recall"]["embedder"]>;

export interface ModelsConfig {
  readonly models: readonly ModelEntry[];
  readonly summarization: { readonly fallback_context_window: number };
  readonly recall?: { readonly embedder: EmbedderEntry | null };
}

/** With no model configured everything still runs. */
export const OFFLINE: ModelEntry = {
  name: "offline",
  provider: "offline",
  model: "offline",
  lightweight: false,
  supports_vision: false,
  thinking: false,
};
