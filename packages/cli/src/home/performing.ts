/** A command that carries out one operation, on this machine's home or by a gateway. The command keeps only how it prints. */
import { type Operation, OperationError, type OperationOptions } from "palimpsest/internal/operation";
import type { z } from "zod";
import type { CommandModule, Context, Input, Printing } from "../command/command.ts";
import { Failure, sentence } from "../command/failure.ts";
import type { Server } from "../command/server.ts";
import { withHome, withThread } from "./home.ts";

export interface Performing<O extends object, Given extends z.ZodObject, Result> {
  input(given: Input<O>): z.output<Given>;
  /** Returns the exit code. */
  show(result: Result, printing: Printing, given: Input<O>): Promise<number>;
  /** What to do about a refusal with this code, in the words of the command line. */
  readonly hints?: Readonly<Record<string, string>>;
  /** What an act on no single thread gives where there is no store; then none is created. */
  empty?(): Result;
  /** Beside the signal and the notes; made when the home is open. */
  options?(context: Context, home: Parameters<Operation["run"]>[0]): Promise<Partial<OperationOptions>>;
}

export function performing<O extends object, Given extends z.ZodObject, Result>(
  operation: Operation<Given, Result>,
  { input, show, hints = {}, empty, options }: Performing<O, Given, Result>,
): Required<CommandModule<O>> {
  return {
    async run(given, context) {
      const asked = input(given);
      const { signal, output } = context;
      const work: Parameters<typeof withHome<Result>>[1] = async (home) =>
        operation.run(home, asked, { signal, note: output.note, ...(await options?.(context, home)) });
      return show(await hinted(() => carriedOut(context, asked, work, empty), hints), context, given);
    },
    async remote(given, context) {
      return show(await hinted(() => overHttp(context.server, operation, input(given)), hints), context, given);
    },
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

async function carriedOut<Result>(
  context: Context,
  asked: object,
  work: Parameters<typeof withHome<Result>>[1],
  empty: (() => Result) | undefined,
): Promise<Result> {
  if ("thread" in asked) return withThread(context, String(asked.thread), work);
  if (empty !== undefined && !(await context.located.hasStore())) return empty();
  return withHome(context, work);
}

/** The fields that the path doesn't hold are the query of a GET, else the body. */
function overHttp<Given extends z.ZodObject, Result>(
  server: Server,
  { method, path }: Pick<Operation<Given, Result>, "method" | "path">,
  given: z.output<Given>,
): Promise<Result> {
  const rest: Record<string, unknown> = { ...given };
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const field = name === "id" ? "thread" : name;
    const value = String(rest[field]);
    delete rest[field];
    return encodeURIComponent(value);
  });
  if (method === "GET") return server.get(address, rest as Parameters<Server["get"]>[1]);
  return server.send(method, address, rest);
}

async function hinted<Result>(work: () => Promise<Result>, hints: Readonly<Record<string, string>>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (OperationError.isInstance(error)) throw refusal(error.code, `${sentence(error.message)}.`, hints);
    if (Failure.isInstance(error)) throw refusal(error.code, error.message, hints);
    throw error;
  }
}

function refusal(code: string, message: string, hints: Readonly<Record<string, string>>): Failure {
  const hint = hints[code];
  return new Failure(code, hint === undefined ? message : `${message.replace(/\.$/, "")}: ${hint}.`);
}
