/**
 * A provider's key that came with a request: in `X-Provider-Key`, or as the client's own credential where
 * `gateway.forward_keys` is on. It is used for the request and for nothing else: never stored, logged or shown. Who has
 * no key of ours is known by an HMAC of it, so that the store never holds what could be tried out against a provider.
 */
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { credentials, isOurs } from "./keys.ts";

export function providerKeyOf(headers: Headers, { forward }: { readonly forward: boolean }): string | null {
  const given = headers.get("x-provider-key");
  if (given !== null && given !== "") return given;
  return forward ? (credentials(headers).find((text) => !isOurs(text)) ?? null) : null;
}

/** The same key is the same user on every gateway that has the secret. */
export function providerUser(secret: Uint8Array, key: string): string {
  return `provider-${createHmac("sha256", secret).update(`provider-key\0${key}`).digest("hex").slice(0, 40)}`;
}

/**
 * The gateway's own secret: `PALIMPSEST_SECRET`, which gateways that share a store must share too, else a file of the
 * home that is made when it is first needed and that only its owner may read.
 */
export async function gatewaySecret(
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Uint8Array> {
  const given = env["PALIMPSEST_SECRET"];
  if (given !== undefined && given !== "") return Buffer.from(given);
  const path = join(directory, "gateway-secret");
  const known = await readFile(path, "utf8").catch(() => null);
  if (known === null) await makeSecret(directory, path);
  const text = await readFile(path, "utf8");
  if (text.length < 32) throw new Error(`${path} holds no secret: remove it, and another one is made`);
  return Buffer.from(text);
}

/** Whole or not at all: of several that start at once, one makes it and all read it. */
async function makeSecret(directory: string, path: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomUUID()}`;
  await writeFile(temporary, randomBytes(32).toString("hex"), { mode: 0o600, flag: "wx" });
  try {
    await link(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}
