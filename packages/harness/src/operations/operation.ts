/**
 * What an operation is: one act that a person or a program can do, with a name, an input schema and an output schema. The
 * gateway's route and its OpenAPI entry, the MCP tool and the command with and without `--server` are derived from it, so
 * that an act is carried out in one place.
 */
import { PalimpsestError } from "@palimpsest/core/errors";
import { z } from "zod";
import type { OnCompactionEvent } from "../compaction/events.ts";
import type { Home } from "../home/open-home.ts";
import { heldText } from "../stores/leases.ts";

/** An act of any input and output, as a table holds it. `Result` is what it returns, at least as precise as its schema. */
export interface Operation<Input extends z.ZodObject = z.ZodObject, Result = unknown> {
  readonly name: string;
  /** One line, for the API's description. */
  readonly summary: string;
  readonly method: "GET" | "POST";
  /** Of its route. `{id}` is the input's `thread`, another name in braces the field of that name. */
  readonly path: string;
  /** Of the route's answer, if other than 200. */
  readonly status?: number;
  /** It may ask a model. */
  readonly spends?: "tokens";
  readonly input: Input;
  readonly output: z.ZodType;
  /** Over HTTP a result that is no success is this error; null: it is a success. The command prints it as a result. */
  refusal?(result: Result): OperationError | null;
  /** Set: it is an MCP tool too. */
  readonly tool?: OperationTool<Result>;
  run(home: Home, input: z.output<Input>, options: OperationOptions): Promise<Result>;
}

interface OperationTool<Result> {
  readonly title: string;
  readonly description: string;
  /** How a model reads the result; without it as JSON. */
  text?(result: Result): string;
}

export interface OperationOptions {
  readonly signal: AbortSignal;
  /** Gets what failed beside the act and didn't stop it. */
  readonly note?: (text: string) => void;
  readonly onCompaction?: OnCompactionEvent;
}

export type ResultOf<Act extends { run(...input: never): unknown }> = Awaited<ReturnType<Act["run"]>>;

/** An entry; the compiler holds what it returns to its output schema. */
export function operation<Input extends z.ZodObject, Output extends z.ZodType, Result extends z.input<Output>>(
  entry: Omit<Operation<Input, Result>, "output"> & { readonly output: Output },
): Operation<Input, Result> {
  return entry;
}

export type OperationCode =
  | "missing"
  | "busy"
  | "bad-thread-id"
  | "no-request"
  | "erased"
  | "no-message"
  | "no-history"
  | "exists"
  | "beyond-end"
  | "workspace-full"
  | "nothing-to-undo"
  | "nothing-to-redo"
  | "not-undoable"
  | "already-undone"
  | "folded-by";

/** The act can't be done, for a reason that who asked can do something about. Nothing was changed. */
export class OperationError extends PalimpsestError<OperationCode> {
  static override readonly kind = "OperationError";
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

export const thread = z.string().describe("A thread's id.");
export const seq = z.int().min(1).describe("A record's place in its thread, from 1.");

/** Results are never written to, so their lists are read-only. */
export const list = <T extends z.ZodType>(of: T) => z.array(of).readonly();
