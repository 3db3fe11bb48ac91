/** The models of the configuration, as both vendors list them: one body serves the clients of both. */
import type { ConfigFile } from "palimpsest/home";
import { OFFLINE } from "palimpsest/internal/models";
import { type ModelEntry, windowOf } from "palimpsest/models";

export function modelList(settings: ConfigFile) {
  const data = entriesOf(settings).map((entry) => listed(entry, settings));
  return { object: "list", data, has_more: false, first_id: data[0]!.id, last_id: data.at(-1)!.id };
}

/** Null: there is none of this name. */
export function listedModel(settings: ConfigFile, name: string) {
  const entry = entriesOf(settings).find((one) => one.name === name);
  return entry === undefined ? null : listed(entry, settings);
}

function entriesOf({ models }: ConfigFile): readonly ModelEntry[] {
  return models.length === 0 ? [OFFLINE] : models;
}

function listed(entry: ModelEntry, { summarization }: ConfigFile) {
  return {
    id: entry.name,
    object: "model",
    created: 0,
    owned_by: entry.provider,
    type: "model",
    display_name: entry.name,
    created_at: "1970-01-01T00:00:00Z",
    max_input_tokens: windowOf(entry, summarization.fallback_context_window).tokens,
    max_tokens: entry.max_output_tokens ?? null,
  };
}
