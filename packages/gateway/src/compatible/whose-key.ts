/** Whose key a request to a provider spends: the operator's, or one that the client brought. */
import { isProviderUser } from "../access/admit.ts";
import type { CompatibleCall } from "./call.ts";
import type { ProviderKey, Target } from "./models.ts";

export function keyIn({ providerKey, headers, caller }: CompatibleCall): ProviderKey | null {
  if (providerKey === null) return null;
  return { key: providerKey, by: headers.has("x-provider-key") ? "named" : "forwarded", only: isProviderUser(caller) };
}

/** An admin is the operator, and whoever brings the provider's own key spends that one: they may use the whole account. */
export function ownsAccount(call: CompatibleCall, { key }: Pick<Target, "key">): boolean {
  return isAdmin(call) || (key !== null && keyIn(call)?.key === key);
}

export function isAdmin({ caller: { role } }: CompatibleCall): boolean {
  return role === "admin";
}
