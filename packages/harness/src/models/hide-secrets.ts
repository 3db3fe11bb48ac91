/**
 * Takes secrets out of errors before anyone can log them. Providers repeat keys in their messages, and a URL may hold a
 * password; the SDK's errors carry both, with bodies and causes. The error itself stays, so that its class is known.
 */
const HIDDEN = "[hidden]";

/** Shorter ones would be found in ordinary text, and are no secrets. */
const SHORTEST = 6;

export function secretsOf(model: {
  readonly api_key?: string | undefined;
  readonly base_url?: string | undefined;
}): readonly string[] {
  const { username = "", password = "" } = model.base_url === undefined ? {} : (URL.parse(model.base_url) ?? {});
  return [model.api_key ?? "", password, username].filter((secret) => secret.length >= SHORTEST);
}

export function hideSecrets(error: unknown, secrets: readonly string[]): unknown {
  return secrets.length === 0 ? error : hide(error, secrets, new Set());
}

/** Errors are changed in place; what they hold may belong to the caller, so of that a clean copy is put in. */
function hide(value: unknown, secrets: readonly string[], seen: Set<object>): unknown {
  if (typeof value === "string") return secrets.reduce((text, secret) => text.replaceAll(secret, () => HIDDEN), value);
  if (typeof value !== "object" || value === null || seen.has(value)) return value;
  seen.add(value);
  if (value instanceof Error) return hideIn(value, secrets, seen);
  if (Array.isArray(value)) {
    const clean = value.map((item) => hide(item, secrets, seen));
    return clean.some((item, index) => item !== value[index]) ? clean : value;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return value;
  const entries = Object.entries(value);
  const clean = entries.map(([key, item]) => [key, hide(item, secrets, seen)] as const);
  return clean.some(([, item], index) => item !== entries[index]![1]) ? Object.fromEntries(clean) : value;
}

function hideIn(error: Error, secrets: readonly string[], seen: Set<object>): Error {
  for (const key of Object.getOwnPropertyNames(error)) {
    const property = Object.getOwnPropertyDescriptor(error, key);
    if (property === undefined || !("value" in property)) continue;
    const clean = hide(property.value, secrets, seen);
    if (clean !== property.value && (property.writable || property.configurable)) {
      Object.defineProperty(error, key, { ...property, value: clean });
    }
  }
  return error;
}
