/** Which home and configuration the command line means, opened for one command; what commands share about threads; how operations are carried out. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { checkThreadId, DEFAULT_USER } from "@palimpsest/core/internal/log";
import type { Admission } from "palimpsest/home";
import { type Home, type LocatedHome, locateHome } from "palimpsest/internal/home";
import {
  type ClosedHome,
  type Operation,
  OperationError,
  type OperationOptions,
  SentPieces,
} from "palimpsest/internal/operation";
import { heldText, storeTarget } from "palimpsest/internal/stores";
import { openStore, type Store } from "palimpsest/stores";
import type { z } from "zod";
import type {
  Command,
  CommandModule,
  Context,
  GlobalOptions,
  Input,
  Printing,
  RemoteContext,
} from "../command/command.ts";
import { Failure, sentence, UsageError } from "../command/failure.ts";
import { type Server, textPieces } from "../command/server.ts";
import { ask, canAsk, isYes } from "../terminal/output.ts";

export function locate(
  { home, config, store, verbose }: GlobalOptions,
  userId: string,
  { access }: Pick<Command, "access">,
  asking: Asking,
): LocatedHome {
  if (home === "") throw new UsageError("--home is empty: name a directory.");
  const { output } = asking;
  return locateHome({
    home: home ?? null,
    config: config ?? null,
    store: store ?? null,
    userId,
    access: access ?? "write",
    cwd: process.cwd(),
    env: process.env,
    trust: (admission) => isTrustedNow(admission, asking),
    // The rest is said by "config check" and "doctor"; otherwise it would be said again at every command.
    onWarning: (text, told) => (verbose || told === "always" ? output.note(`warning: ${text}`) : undefined),
    onError: (text) => output.note(`error: ${text}`),
  });
}

type Asking = Pick<Context, "format" | "output" | "signal">;

/** What it would be allowed to do, a line each. */
export function powerLines({ powers }: Admission): string[] {
  return powers.map(({ key, detail }) => `  ${detail} (${key})`);
}

async function isTrustedNow(admission: Admission, { format, output, signal }: Asking): Promise<boolean> {
  if (!canAsk(format)) return false;
  const changed = admission.state === "changed" ? "has changed since you trusted it" : "is not known to be yours";
  await output.line(
    sentence(`this ${admission.kind === "home" ? "home" : "configuration"} ${changed}: ${admission.path}`),
  );
  const lines = powerLines(admission);
  if (lines.length > 0) await output.line(["It would", ...lines].join("\n"));
  return isYes(await ask("Trust it as it is now? [y/N] ", signal));
}

/* The home opened for one command and closed whatever happens, and the sentences commands share about threads. */

/** As a person writes it on the command line: a path is seen from where they are. */
export function namedStore(text: string): string {
  return storeTarget(text, process.cwd());
}

/** The threads of the user that was named. Creates the home where it is missing. */
export async function withHome<T>({ located }: Context, work: (home: Home) => Promise<T>): Promise<T> {
  const home = await located.open();
  try {
    return await work(home);
  } finally {
    await home.close();
  }
}

export async function withStore<T>(
  target: string,
  work: (store: Store) => Promise<T>,
  access: NonNullable<Command["access"]> | "write" = "write",
): Promise<T> {
  const store = await openStore(target, { access });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** For commands on a thread that must exist. */
export async function withThread<T>(context: Context, threadId: string, work: (home: Home) => Promise<T>): Promise<T> {
  const { open, close } = atFirstUse(context);
  try {
    await requireThread(context, threadId, open);
    return await work(await open());
  } finally {
    await close();
  }
}

/** The home is opened by the first act that needs it, and stays open for the others. */
function atFirstUse({ located }: Context): { open(): Promise<Home>; close(): Promise<void> } {
  let opening: Promise<Home> | null = null;
  return { open: () => (opening ??= located.open()), close: async () => (await opening)?.close() };
}

/** Where a home that was found here stands before the person's own, and that one has threads; else "". */
export async function ownHomeNote({ located, userId }: Context): Promise<string> {
  const { place, person } = located;
  const own = person.folders.data;
  const target = join(own, "palimpsest.db");
  if (place.reason !== "found" || !existsSync(target)) return "";
  const page = await withStore(target, async (store) => store.forUser(userId).threads({ limit: MOST }), "read").catch(
    () => null,
  );
  const count = page?.threads.length ?? 0;
  if (count === 0) return "";
  const threads = count === 1 ? "1 thread" : `${count}${page?.next === null ? "" : " or more"} threads`;
  return ` ${place.directory} was found here and stands before your own home, ${own}, which has ${threads}: --home ${own} names that one.`;
}

const MOST = 100;

export function requireThreadId(id: string): void {
  const checked = checkThreadId(id);
  if (checked.kind === "invalid") throw new UsageError(`Not a thread id: ${checked.problem}.`);
}

/** A little longer than the lease of a run that was killed. */
const PATIENCE_SECONDS = 35;

/** `--wait`, in milliseconds. */
export function patience(seconds: number = PATIENCE_SECONDS): number {
  return seconds * 1000;
}

export function waitingNote(threadId: string, { waitMs }: { readonly waitMs: number }): string {
  return `Thread "${threadId}" is held by another run, or by one that was killed: waiting up to ${waitMs / 1000} s (Ctrl-C stops).`;
}

export function busy(
  threadId: string,
  held?: Parameters<typeof heldText>[0],
  next = "try again when it has ended",
): Failure {
  return new Failure("busy", `Thread "${threadId}" is being written to by another run${heldText(held)}: ${next}.`);
}

export function missingThread({ home, store, userId }: Context, threadId: string): Failure {
  const where = store === null ? ` in ${home}` : "";
  const of = userId === DEFAULT_USER ? "" : ` of the user ${JSON.stringify(userId)}`;
  return new Failure("missing", `There is no thread "${threadId}"${of}${where}. "palimpsest threads" lists them.`);
}

/** What to tell of erased words that another process still holds in a file. */
export function leftNotes(left: string | null | undefined): readonly string[] {
  if (left == null) return [];
  return [`Another process is reading the database: ${left} still holds the words until it has ended.`];
}

/** What a command that goes on with the thread must say of its user. */
export function whose({ userId }: Context): string {
  return userId === DEFAULT_USER ? "" : ` --user ${/^[\w@.:-]+$/.test(userId) ? userId : JSON.stringify(userId)}`;
}

/*
 * Commands that carry out operations, on this machine's home or by a gateway. A command keeps only how it reads its
 * words and how it prints; where the act happens is decided here.
 */

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

function localActs(context: Context, wording: Wording): { readonly acts: Acts; close(): Promise<void> } {
  const { located, format, output, signal, userId } = context;
  const { open, close } = atFirstUse(context);
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
    close,
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
