/** A request to a resource that is held here, and what it says. */
import type { CompatibleCall, CompatibleDeps } from "../call.ts";
import type { Secret } from "../matching/chain.ts";
import type { Fields } from "../vendor.ts";
import { refusal } from "./refusals.ts";

export interface HeldCall {
  readonly call: CompatibleCall;
  readonly deps: CompatibleDeps;
  readonly secret: Secret;
  readonly query: URLSearchParams;
}

/** Nothing is an empty object. */
export async function bodyOf(call: CompatibleCall): Promise<Fields> {
  const text = (await call.body()).toString();
  try {
    const value: unknown = JSON.parse(text === "" ? "{}" : text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  } catch {
    // Said below.
  }
  throw refusal(400, { code: "bad-json", message: "the body is no JSON object" });
}
