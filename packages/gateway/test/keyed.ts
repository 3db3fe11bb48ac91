/** A gateway with keys for two plain users, a delegate and an admin, and nothing said yet. */
import type { TestContext } from "node:test";
import { createKey, type KEY_ROLES } from "palimpsest/internal/key-operations";
import { type Answered, type Running, type RunningOptions, running, sent } from "./running.ts";

export interface Keyed extends Running {
  readonly keys: Readonly<Record<"ann" | "bob" | "delegate" | "admin", string>>;
  /** `as`: one of the keys, or any other credential; null: none. A body that is no text is sent as JSON. */
  ask(as: string | null, method: string, path: string, more?: KeyedRequest): Promise<Answered>;
}

export interface KeyedRequest {
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer | object;
}

export async function keyed(t: TestContext, options: RunningOptions = {}): Promise<Keyed> {
  const at = await running(t, options);
  const rows = at.home.store.keys!;
  const key = async (user: string, role: (typeof KEY_ROLES)[number]) =>
    (await createKey(rows, { user, role, expiresAt: null }, new Date())).key;
  const keys = {
    ann: await key("ann", "user"),
    bob: await key("bob", "user"),
    delegate: await key("front", "delegate"),
    admin: await key("ops", "admin"),
  };
  const ask: Keyed["ask"] = (as, method, path, { headers = {}, body } = {}) => {
    const credential = as === null ? null : (keys[as as keyof typeof keys] ?? as);
    const isJson = typeof body === "object" && !Buffer.isBuffer(body);
    return sent(at, path, {
      method,
      headers: {
        ...(credential !== null && { authorization: `Bearer ${credential}` }),
        ...(isJson && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: isJson ? JSON.stringify(body) : body }),
    });
  };
  return { ...at, keys, ask };
}
