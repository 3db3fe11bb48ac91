/**
 * Commands that carry out operations, on this machine's home or by a gateway. A command keeps only how it reads its words
 * and how it prints; where the act happens is decided here.
 */
import type { Home } from "palimpsest/internal/home";
import {
  type ClosedHome,
  type Operation,
  OperationError,
  type OperationOptions,
  SentPieces,
} from "palimpsest/internal/operation";
import type { z } from "zod";
import type { CommandModule, Context, Input, Printing, RemoteContext } from "../command/command.ts";
import { Failure, sentence, UsageError } from "../command/failure.ts";
import { type Server, textPieces } from "../command/server.ts";
import { missingThread, ownHomeNote, requireThreadId } from "./home.ts";

export interface Acts extends Printing {
  readonly signal: AbortSignal;
  /** `--user`, else the default one. */
  readonly userId: string;
  /** Of the command on this machine; null with `--server`. */
  readonly context: Context | null;
  /** Null without `--server`. */
  readonly server: Server | null;
  call<Given extends z.ZodObject, Result>(
    operation: Operation<Given, Result>,
    input: z.output<Given>,
    options?: CallOptions<Result>,
  ): Promise<Result>;
}

interface CallOptions<Result> {
  /** The result where there is no store; then none is created. */
  readonly empty?: Result | undefined;
  /** Beside the signal and the notes; made when the home is open. Only for acts on this machine. */
  readonly options?: ((context: Context, home: Home) => Promise<Partial<OperationOptions>>) | undefined;
}

interface Wording {
  /** What to do about a refusal with this code, in the words of the command line. */
  readonly hints?: Readonly<Record<string, string>>;
  /** Names of fields on the command line, if other than that of an option: `TITLE`. */
  readonly fields?: Readonly<Record<string, string>>;
}

interface Performing<O extends object, Given extends z.ZodObject, Result> extends Wording {
  input(given: Input<O>): z.output<Given>;
  /** Lines for a person; a function that prints by itself returns a promise. With `--json` the result is printed instead. */
  show(result: NoInfer<Result>, acts: Acts, given: Input<O>): PersonText;
  /** Lines for stderr, also with `--json`. */
  notes?(result: NoInfer<Result>): readonly string[];
  /** Whether the result is a failure: exit code 1. */
  failed?(result: NoInfer<Result>): boolean;
  empty?(): Result;
  readonly options?: CallOptions<Result>["options"];
}

type PersonText = string | readonly string[] | Promise<void>;

/** A command that is one operation. */
export function performing<O extends object, Given extends z.ZodObject, Result>(
  operation: Operation<Given, Result>,
  { input, show, notes, failed, empty, options, ...wording }: Performing<O, Given, Result>,
): Required<CommandModule<O>> {
  return acting<O>(async (given, acts) => {
    const result = await acts.call(operation, input(given), { empty: empty?.(), options });
    for (const note of notes?.(result) ?? []) acts.output.note(note);
    await print(acts, result, () => show(result, acts, given));
    return failed?.(result) === true ? 1 : 0;
  }, wording);
}

/** The document with `--json`, else what a person reads. */
export async function print({ format, output }: Printing, document: unknown, show: () => PersonText): Promise<void> {
  if (format === "json") return output.json(document);
  const shown = show();
  if (shown instanceof Promise) return shown;
  for (const line of typeof shown === "string" ? [shown] : shown) await output.line(line);
}

/** A command of several operations, or of one several times. */
export function acting<O extends object>(
  work: (given: Input<O>, acts: Acts) => Promise<number>,
  wording: Wording = {},
): Required<CommandModule<O>> {
  return {
    async run(given, context) {
      const local = localActs(context, wording);
      try {
        return await work(given, local.acts);
      } finally {
        await local.close();
      }
    },
    remote: (given, context) => work(given, remoteActs(context, wording)),
  };
}

/** A command that is one of several acts, as its words say. */
export function choosing<O extends object>(
  choose: (given: Input<O>) => Required<CommandModule<O>>,
): Required<CommandModule<O>> {
  return {
    run: async (given, context) => choose(given).run(given, context),
    remote: async (given, context) => choose(given).remote(given, context),
  };
}

/** The home is opened by the first act that needs it, and stays open for the others. */
function localActs(context: Context, wording: Wording): { readonly acts: Acts; close(): Promise<void> } {
  const { located, format, output, signal, userId } = context;
  let opening: Promise<Home> | null = null;
  const open = () => (opening ??= located.open());
  const closed: ClosedHome = { ...located, store: null, clock: () => new Date() };
  return {
    acts: {
      format,
      output,
      signal,
      userId,
      context,
      server: null,
      call: (operation, input, { empty, options } = {}) =>
        worded(wording, async () => {
          const given = { signal, note: output.note, env: process.env };
          // An operation with `needs` also takes a home that is closed.
          if (!(await needsStore(operation, context))) return operation.run(closed as unknown as Home, input, given);
          if ("thread" in input) await requireThread(context, String(input["thread"]), open);
          else if (empty !== undefined && !(await hasNamedStore(context))) return empty;
          const home = await open();
          return operation.run(home, input, { ...given, ...(await options?.(context, home)) });
        }),
    },
    close: async () => (await opening)?.close(),
  };
}

/** A home without a store is empty; a store that was named and isn't there is a mistake. */
export async function hasNamedStore({ located, store }: Context): Promise<boolean> {
  const isThere = await located.hasStore();
  if (!isThere && store !== null) throw new Failure("missing", `There is no store at ${store}.`);
  return isThere;
}

async function needsStore({ needs }: Pick<Operation, "needs">, { located }: Context): Promise<boolean> {
  if (needs === undefined) return true;
  if (needs === "settings") return false;
  const { storage_class: kind } = (await located.settings()).memory;
  return kind === "sqlite" || kind === "postgres" || (await located.hasStore());
}

/** A home that isn't there is not created only to find it empty. */
async function requireThread(context: Context, threadId: string, open: () => Promise<Home>): Promise<void> {
  requireThreadId(threadId);
  const isThere = (await context.located.hasStore()) && (await (await open()).store.header(threadId)) !== undefined;
  if (isThere) return;
  const { code, message } = missingThread(context, threadId);
  throw new Failure(code, message + (await ownHomeNote(context)));
}

export function remoteActs({ server, format, output, signal, userId }: RemoteContext, wording: Wording = {}): Acts {
  return {
    format,
    output,
    signal,
    userId,
    context: null,
    server,
    call: (operation, input) => worded(wording, () => overHttp(server, operation, input)),
  };
}

/** The fields that the path doesn't hold are the query of a GET, else the body. */
async function overHttp<Given extends z.ZodObject, Result>(
  server: Server,
  { method, path, query: inAddress = [], body: whole, gives }: Operation<Given, Result>,
  given: z.output<Given>,
): Promise<Result> {
  const rest: Record<string, unknown> = { ...given };
  const take = (name: string): unknown => {
    const value = rest[name];
    delete rest[name];
    return value;
  };
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(take(name === "id" ? "thread" : name))),
  );
  const query = Object.fromEntries(
    (method === "GET" ? Object.keys(rest) : inAddress).map((name) => [name, take(name) as string | undefined]),
  );
  if (gives === "pieces") {
    const response = await server.open(address, { query });
    return new SentPieces(textPieces(response), response.headers.get("content-type") ?? "") as Result;
  }
  if (method === "GET") return server.get(address, query);
  return server.send(method, address, whole === undefined ? rest : (rest[whole] as object), query);
}

/** Refusals in the words of the command line. */
async function worded<Result>({ hints = {}, fields = {} }: Wording, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (OperationError.isInstance(error)) {
      const { code, field, message } = error;
      if (field !== null) throw new UsageError(`${fields[field] ?? `--${field}`}: ${message.slice(field.length + 2)}.`);
      throw refusal(code, `${sentence(message)}.`, hints);
    }
    if (Failure.isInstance(error)) throw refusal(error.code, error.message, hints);
    throw error;
  }
}

function refusal(code: string, message: string, hints: Readonly<Record<string, string>>): Failure {
  const hint = hints[code];
  return new Failure(code, hint === undefined ? message : `${message.replace(/\.$/, "")}: ${hint}.`);
}
