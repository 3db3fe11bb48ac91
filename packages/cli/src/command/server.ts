/**
 * A gateway that commands work against instead of a home: `--server URL --key K`. What a route answers is the document that
 * the command of the same name prints with `--json`.
 */

import { isIP } from "node:net";
import { errorCode } from "@palimpsest/core/internal/text";
import { Failure, sentence, UsageError } from "./failure.ts";

export interface Server {
  readonly url: string;
  get<T>(path: string, query?: Query): Promise<T>;
  send<T>(method: "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: object, query?: Query): Promise<T>;
  /** The answer as it comes; one that is no success is a `Failure`. */
  open(path: string, request?: ServerRequest): Promise<Response>;
}

type Query = Readonly<Record<string, string | number | undefined>>;

interface ServerRequest {
  readonly method?: string;
  readonly query?: Query;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly contentType?: string;
}

export interface ServerOptions {
  readonly url: string;
  readonly key: string | null;
  /** Whose threads, for a key that may act for others; null: the key's own user. */
  readonly userId: string | null;
  readonly signal: AbortSignal;
}

export function connectServer({ url: given, key, userId, signal }: ServerOptions): Server {
  const url = checkedUrl(given);
  const headers = {
    ...(key !== null && { authorization: `Bearer ${key}` }),
    // A name may be any text; a header is bytes.
    ...(userId !== null && { "x-palimpsest-user": Buffer.from(userId).toString("latin1") }),
    "x-palimpsest-client": "cli",
  };
  const open: Server["open"] = async (path, { method = "GET", query = {}, body, contentType } = {}) => {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
    const address = `${url}${path}${search.size === 0 ? "" : `?${search}`}`;
    const type = contentType === undefined ? {} : { "content-type": contentType };
    const request = { method, headers: { ...headers, ...type }, signal, redirect: "error" as const };
    const response = await fetch(address, body === undefined ? request : { ...request, body }).catch(
      (error: unknown) => {
        signal.throwIfAborted();
        throw unreachable(url, error);
      },
    );
    if (!response.ok) throw await failureOf(response, url);
    return response;
  };
  return {
    url,
    open,
    get: async (path, query = {}) => read(await open(path, { query })),
    send: async (method, path, body = {}, query = {}) =>
      read(await open(path, { method, query, body: JSON.stringify(body), contentType: "application/json" })),
  };
}

export function threadPath(threadId: string, rest = ""): string {
  return `/api/threads/${encodeURIComponent(threadId)}${rest}`;
}

/** A key that others on the way can read. */
export function isUnprotected(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  const name = hostname.replace(/^\[(.*)\]$/, "$1");
  return protocol === "http:" && name !== "localhost" && !(isIP(name) !== 0 && /^(?:127\.|::1$)/.test(name));
}

function checkedUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "")
    throw new UsageError(`--server must be an address such as http://127.0.0.1:8790, not ${JSON.stringify(given)}.`);
  if (url.username !== "" || url.password !== "")
    throw new UsageError("--server takes no password: give the key with --key or PALIMPSEST_KEY.");
  return url.href.replace(/(?<!\/)\/+$/, "");
}

async function read<T>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

function unreachable(url: string, error: unknown): Failure {
  const code = error instanceof Error ? errorCode(error.cause) : null;
  const why = code === null ? "" : ` (${code})`;
  return new Failure(
    "unreachable",
    `No gateway answers at ${url}${why}: start one with "palimpsest serve", or check --server.`,
  );
}

async function failureOf(response: Response, url: string): Promise<Failure> {
  const text = await response.text().catch(() => "");
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } };
    if (typeof error.code === "string" && typeof error.message === "string")
      return new Failure(error.code, `${sentence(error.message)}.`);
  } catch {
    // Something else than a gateway answers there.
  }
  return new Failure(
    "not-a-gateway",
    `${url} answers with ${response.status}, and not as a gateway does: check --server.`,
  );
}

/** The text of an answer, as it comes. */
export async function* textPieces({ body }: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const piece of body ?? []) yield decoder.decode(piece, { stream: true });
}

/** The data of server-sent events, one after the other. */
export async function* eventData(response: Response): AsyncGenerator<unknown> {
  let waiting = "";
  for await (const piece of textPieces(response)) {
    const blocks = (waiting + piece).split("\n\n");
    waiting = blocks.pop()!;
    for (const block of blocks) {
      const line = block.split("\n").find((one) => one.startsWith("data: "));
      if (line !== undefined) yield JSON.parse(line.slice(6));
    }
  }
}
