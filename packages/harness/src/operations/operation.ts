/**
 * What an operation is: one act that a person or a program can do, with a name, an input schema and an output schema. The
 * gateway's route and its OpenAPI entry, the MCP tool and the command with and without `--server` are derived from it, so
 * that an act is carried out in one place.
 */
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import { z } from "zod";
import type { OnCompactionEvent } from "../compaction/events.ts";
import type { Home, LocatedHome } from "../home/open-home.ts";
import { heldText, type Leased } from "../stores/leases.ts";

/** An act of any input and output, as a table holds it. `Result` is what it returns, at least as precise as its schema. */
export interface Operation<Input extends z.ZodObject = z.ZodObject, Result = unknown> {
  readonly name: string;
  readonly summary: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Of its route. `{id}` is the input's `thread`, another name in braces the field of that name. */
  readonly path: string;
  /** Fields that stand in the address although it is no GET. */
  readonly query?: readonly string[];
  /** The field that is the whole body; without it the body is an object of the fields that the address doesn't hold. */
  readonly body?: string;
  /** Who may do it over HTTP: every user (the default), or admins only. */
  readonly access?: "user" | "admin";
  /**
   * What has to be open. The default is the store. `settings`: the configuration only. `memory`: the memory, and the store
   * if there is one; then `run` gets a home whose store may be null.
   */
  readonly needs?: "settings" | "memory";
  /** Of the route's answer, if other than 200. */
  readonly status?: number;
  /** It may ask a model. */
  readonly spends?: "tokens";
  readonly input: Input;
  readonly output: z.ZodType;
  /** The result is `Pieces`, and the output schema says what they are together. */
  readonly gives?: "pieces";
  /** Of pieces that are no `application/json`. */
  readonly media?: string;
  /** Over HTTP a result that is no success is this error; null: it is a success. The command prints it as a result. */
  refusal?(result: Result): OperationError | null;
  /** Set: it is an MCP tool too. */
  readonly tool?: OperationTool<Result>;
  run(home: Home, input: z.output<Input>, options: OperationOptions): Promise<Result>;
}

/** A home whose store is not open, for operations with `needs`. */
export type ClosedHome = Pick<LocatedHome, "userId" | "directory" | "settings" | "learned" | "memory"> & {
  readonly store: null;
  readonly clock: () => Date;
};

interface OperationTool<Result> {
  /** If other than the operation's, with an underscore for each hyphen. */
  readonly name?: string;
  readonly title: string;
  readonly description: string;
  /** What it does to the user's data. The default is to read it. */
  readonly effect?: "adds" | "deletes";
  /** Fields that a model can't give. */
  readonly without?: readonly string[];
  /** Taken for what the model doesn't give. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** How a model reads the result; without it as JSON. */
  text?(result: Result): string;
}

export interface OperationOptions {
  readonly signal: AbortSignal;
  /** Gets what failed beside the act and didn't stop it. */
  readonly note?: (text: string) => void;
  readonly onCompaction?: OnCompactionEvent;
  /** The home of another user, if the caller may act for them. Without it everybody's is open, as on one's own machine. */
  readonly forUser?: (userId: string) => Home;
  /** The environment of the person who asks; without it an empty one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The id of the run under way on a thread; null: none is. Without it no run is known. */
  readonly runOn?: (userId: string, threadId: string) => Promise<string | null>;
  /** Drops what this process remembers of a user whose everything is deleted. */
  readonly forget?: (userId: string) => void;
  /** Throws if the caller may not end keys of this role. Without it every key may be ended, as on one's own machine. */
  readonly assertEnds?: (role: string) => void;
  /** The program that states a fact for the person, if it isn't the person. */
  readonly source?: string;
}

/** A result that is long: its text in pieces, written as they are made. */
export class SentPieces {
  readonly pieces: AsyncIterable<string>;
  readonly type: string;

  constructor(pieces: AsyncIterable<string>, type: string) {
    this.pieces = pieces;
    this.type = type;
  }
}

export type ResultOf<Act extends { run(...input: never): unknown }> = Awaited<ReturnType<Act["run"]>>;

/** An entry; the compiler holds what it returns to its output schema. */
export function operation<Input extends z.ZodObject, Output extends z.ZodType, Result extends z.input<Output>>(
  entry: Omit<Operation<Input, Result>, "output"> & { readonly output: Output },
): Operation<Input, Result> {
  return entry;
}

/** The same of an act whose result is long. */
export function longOperation<Input extends z.ZodObject>(
  entry: Omit<Operation<Input, SentPieces>, "gives">,
): Operation<Input, SentPieces> {
  return { ...entry, gives: "pieces" };
}

/** Why an act can't be done, with the status of the route's answer. */
export const OPERATION_STATUS = {
  missing: 404,
  invalid: 400,
  busy: 409,
  "bad-thread-id": 400,
  "no-request": 404,
  erased: 410,
  "no-message": 422,
  "not-pending": 422,
  "no-history": 422,
  exists: 409,
  "beyond-end": 422,
  "workspace-full": 507,
  "nothing-to-undo": 409,
  "nothing-to-redo": 409,
  "not-undoable": 409,
  "already-undone": 409,
  "folded-by": 409,
  unreadable: 422,
  nothing: 409,
  "unknown-change": 409,
  "changed-since": 409,
  empty: 422,
  "too-long": 422,
  refused: 422,
  unsupported: 501,
} as const;

export type OperationCode = keyof typeof OPERATION_STATUS;

/** The act can't be done, for a reason that who asked can do something about. Nothing was changed. */
export class OperationError extends PalimpsestError<OperationCode> {
  static override readonly kind = "OperationError";
  /** The field of the input that is wrong; null if no single one is. */
  readonly field: string | null;

  constructor(code: OperationCode, message: string, field: string | null = null) {
    super(code, message);
    this.field = field;
  }
}

export function invalid(field: string, problem: string): OperationError {
  return new OperationError("invalid", `${field}: ${problem}`, field);
}

export function missingThread(id: string): OperationError {
  return new OperationError("missing", `there is no thread ${JSON.stringify(id.slice(0, 140))}`);
}

export function busyThread(id: string, held?: Parameters<typeof heldText>[0]): OperationError {
  return new OperationError(
    "busy",
    `thread ${JSON.stringify(id)} is being written to by another run${heldText(held)}: try again when it has ended`,
  );
}

/** What was done under the thread's lease; throws where there was none to get. */
export function leasedValue<T>(id: string, leased: Leased<T>): T {
  if (leased.kind === "missing") throw missingThread(id);
  if (leased.kind === "busy") throw busyThread(id, leased);
  return leased.value;
}

/** Why nothing was written under the lease. */
export function unwritten(id: string, kind: "missing" | "lease-lost" | "conflict"): OperationError {
  return kind === "missing" ? missingThread(id) : busyThread(id);
}

export const thread = z.string().describe("A thread's id.");
export const seq = z.int().min(1).describe("A record's place in its thread, from 1.");

/** Results are never written to, so their lists are read-only. */
export const list = <T extends z.ZodType>(of: T) => z.array(of).readonly();
