/**
 * What a failure of PostgreSQL means: whether to try again, and what to tell the person. Messages name the server, the
 * database and the user, never the URL, which may hold a password.
 */

import { isRecord } from "@palimpsest/core/internal/text";
import { StoreError, type StoreErrorCode } from "../store-error.ts";
import type { PostgresTarget } from "./url.ts";

/**
 * `lost`: the connection went, the outcome is unknown. `starting`: nothing was done, the server will be back.
 * `standby`: nothing was done, this server follows another one; its place may be taken by the primary, or it becomes one.
 * `conflict`: the database took the transaction back to let another one through. `node`: one of Citus's nodes is away or went
 * away, the outcome is unknown; the connection to the coordinator is fine.
 */
export type ConnectionProblem = "lost" | "starting" | "standby" | "conflict" | "node" | "none";

export function connectionProblem(error: unknown): ConnectionProblem {
  if (error instanceof AggregateError) return connectionProblem(error.errors[0]);
  if (!(error instanceof Error) || error instanceof StoreError) return "none";
  const code = codeOf(error);
  // The second one: what the parts of a statement hand on to each other is on the node that the user's shard has just left.
  if (OF_A_NODE.test(error.message) || code === "CIINF") return "node";
  if (code === "57P03" || code === "53300") return "starting";
  if (error instanceof StandbyError) return "standby";
  if (code === "40001" || code === "40P01") return "conflict";
  if (code === "57P01" || code === "57P02" || code === "57P05" || code === "25P03" || code.startsWith("08"))
    return "lost";
  if (SOCKET_CODES.has(code)) return "lost";
  return code === "" && /connection|timeout|not queryable/i.test(error.message) ? "lost" : "none";
}

/** What the coordinator says of another server, whatever became of that one. */
const OF_A_NODE = /connection to the remote node|connection not open|failed to (?:connect|establish connection) to/;

/** What a server refuses because it may not write: a standby, or one that was told so. Unlogged tables can't even be read there. */
export function isReadOnlyRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  return code === "25006" || (code === "0A000" && /recovery/.test(error.message));
}

/** A refusal of a server that follows another one. */
export class StandbyError extends Error {
  readonly code = "25006";
}

/** The error to throw when trying again is over. */
export function describeProblem(error: unknown, target: PostgresTarget): unknown {
  if (!(error instanceof Error) || error instanceof StoreError) return error;
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const code = codeOf(inner);
  const said = inner instanceof Error ? inner.message : "";
  const isOther = code === "" || OF_A_NODE.test(error.message) || NOT_ENCRYPTED.test(said);
  const reason = isOther ? undefined : (KNOWN[code] ?? KNOWN[code.slice(0, 2)]);
  if (reason) return new StoreError(reason.code, `PostgreSQL at ${target.place} ${reason.say(target)}`, error);
  const encryption = encryptionProblem(code, said);
  if (encryption !== null) return new StoreError("unauthorized", `PostgreSQL at ${target.place} ${encryption}`, error);
  if (connectionProblem(error) === "node")
    return new StoreError(
      "unavailable",
      `A node of the database at ${target.place} doesn't answer (${error.message.split("\n")[0]}). Nothing acknowledged is lost: users on other nodes go on; bring the node back, then try again.`,
      error,
    );
  if (connectionProblem(error) !== "none") {
    const why = said || code;
    return new StoreError(
      "unavailable",
      `PostgreSQL at ${target.place} doesn't answer (${why}). Nothing acknowledged is lost: check that the server runs and that store.url is right, then try again.`,
      error,
    );
  }
  if (!/^[0-9A-Z]{5}$/.test(code)) return error;
  return new StoreError("io", `PostgreSQL at ${target.place} failed (${code}): ${said}`, error);
}

/** What a server without a rule for connections in the clear says of them. */
const NOT_ENCRYPTED = /no encryption|SSL off/;
const CERTIFICATE = /^(?:ERR_TLS_|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_)/;

/** Null: it is something else. */
function encryptionProblem(code: string, message: string): string | null {
  if (code.startsWith("28") && NOT_ENCRYPTED.test(message))
    return "lets nobody in without TLS, or not from here: add sslmode=verify-full to store.url.";
  if (CERTIFICATE.test(code))
    return `has a certificate that can't be trusted (${message.split(";")[0]}): name its authority with sslrootcert=PATH in store.url, or encrypt without a check (sslmode=no-verify).`;
  if (message.includes("does not support SSL"))
    return "has no TLS: switch it on there, or leave sslmode out of store.url.";
  return null;
}

const SOCKET_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ENOENT",
  "EACCES",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

/** By SQLSTATE, or its class. */
const KNOWN: Readonly<Record<string, { readonly code: StoreErrorCode; say(target: PostgresTarget): string }>> = {
  "28": {
    code: "unauthorized",
    say: (target) => `refused the user "${target.user}": check the user and the password in store.url.`,
  },
  "3D000": {
    code: "unsuitable",
    say: (target) => `has no database "${target.database}": create it (createdb), or name another one in store.url.`,
  },
  "42501": {
    code: "unauthorized",
    say: (target) =>
      `doesn't let the user "${target.user}" do this: it must own the schema ${target.schema}, or may create it (GRANT CREATE ON DATABASE).`,
  },
  "25006": {
    code: "unwritable",
    say: () =>
      "is read-only (a standby, or default_transaction_read_only): nothing was written. Name the primary in store.url.",
  },
  "57014": {
    code: "unavailable",
    say: () =>
      "ended a statement that took longer than its statement_timeout: allow ten seconds or more (ALTER ROLE ... SET statement_timeout), then try again.",
  },
  "53100": { code: "full", say: () => "has no disk space left: nothing was written. Free some, then try again." },
  "53200": { code: "full", say: () => "is out of memory: nothing was written. Try again, or give it more." },
};

function codeOf(error: unknown): string {
  return isRecord(error) && typeof error["code"] === "string" ? error["code"] : "";
}
