/** From the model that a request names to the provider that is asked: by the configuration alone, never by the request. */
import { bindsReasoning, keyOf, OFFLINE } from "palimpsest/internal/models";
import { type ModelEntry, windowOf } from "palimpsest/models";
import type { Vendor } from "./vendor.ts";

export interface Target {
  readonly entry: ModelEntry;
  /** What the provider calls the model. */
  readonly model: string;
  readonly window: number;
  /** `raw`: it speaks the protocol of the request. */
  readonly way: "raw" | "converted";
  /** With the path of the protocol; null where it is converted. */
  readonly base: string | null;
  readonly key: string | null;
}

/** Whether the model refuses a thought of its own once anything before it has changed. */
export function bindsThoughts({ entry, model }: Target): boolean {
  return entry.binds_reasoning ?? bindsReasoning(model);
}

/** A key that came with a request. */
export interface ProviderKey {
  readonly key: string;
  /** `forwarded`: the client's own credential, which is meant for the vendor itself and nobody else. */
  readonly by: "named" | "forwarded";
  /** It is all that its caller has shown: nobody else's money may be spent for them. */
  readonly only: boolean;
}

export interface ModelTable {
  readonly models: readonly ModelEntry[];
  readonly fallbackWindow: number;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Null: no entry has this name. `providerKey`: the client's own, for a model that isn't listed at a vendor that is. For who
 * has nothing but a key that is meant for one vendor, the entries of all others are not there.
 */
export function targetOf(
  vendor: Pick<Vendor<never>, "providers" | "address">,
  { model, providerKey }: { readonly model: string; readonly providerKey: ProviderKey | null },
  { models, fallbackWindow, env }: ModelTable,
): Target | null {
  const mayUse = (entry: ModelEntry): boolean =>
    entry === OFFLINE || providerKey?.only !== true || isFor(providerKey, vendor, entry);
  const listed = models.find(({ name }) => name === model) ?? models.find((entry) => entry.model === model);
  const speaking =
    providerKey === null
      ? undefined
      : models.find((entry) => vendor.providers.includes(entry.provider) && mayUse(entry));
  const entry = listed ?? speaking ?? (models.length === 0 ? OFFLINE : null);
  if (entry === null || !mayUse(entry)) return null;
  const isRaw = vendor.providers.includes(entry.provider);
  const named = listed === undefined && entry.provider !== "offline" ? model : entry.model;
  return {
    entry,
    model: named,
    window: windowOf({ ...entry, model: named }, fallbackWindow).tokens,
    way: isRaw ? "raw" : "converted",
    base: isRaw ? (entry.base_url ?? vendor.address).replace(/(?<!\/)\/+$/, "") : null,
    key: providerKey !== null && isFor(providerKey, vendor, entry) ? providerKey.key : (keyOf(entry, env) ?? null),
  };
}

/** A forwarded key is its vendor's; `openai-compatible` is whoever the operator says, not OpenAI. */
function isFor(
  { by }: ProviderKey,
  { providers }: Pick<Vendor<never>, "providers">,
  { provider }: ModelEntry,
): boolean {
  return by === "named" || (providers.includes(provider) && provider !== "openai-compatible");
}
