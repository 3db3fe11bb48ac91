/** The model of one run: the agent's own, or the same with the key that came with the request. */
import type { RunInput } from "palimpsest/agent";
import type { Home } from "palimpsest/internal/home";
import { resolveModel } from "palimpsest/models";

/** The key goes to the address that the configuration gives for this model, and to no other. */
export async function runModel(
  home: Home,
  { model, providerKey }: { readonly model: string | null; readonly providerKey: string | null },
): Promise<Pick<RunInput, "model" | "window">> {
  if (providerKey === null) return {};
  const config = await home.settings();
  const entry = model === null ? config.models[0] : config.models.find(({ name }) => name === model);
  if (entry === undefined) return {};
  const { language, window } = await resolveModel({ ...config, models: [{ ...entry, api_key: providerKey }] }, null);
  return { model: language, window: window.tokens };
}
