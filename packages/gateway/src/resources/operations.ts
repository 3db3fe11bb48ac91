/** Routes that are derived from operations: what an act takes and gives is said once, by the operation itself. */
import * as acting from "palimpsest/internal/acting";
import * as catalog from "palimpsest/internal/catalog-operations";
import * as files from "palimpsest/internal/file-operations";
import * as keys from "palimpsest/internal/key-operations";
import * as looking from "palimpsest/internal/looking";
import * as memory from "palimpsest/internal/memory-operations";
import { type Operation, OperationError, type OperationOptions, SentPieces } from "palimpsest/internal/operation";
import * as reading from "palimpsest/internal/reading";
import * as shaping from "palimpsest/internal/shaping";
import * as threads from "palimpsest/internal/thread-operations";
import * as user from "palimpsest/internal/user-operations";
import { z } from "zod";
import { mayAct } from "../access/admit.ts";
import type { RecentRequests } from "../compatible/outcome.ts";
import { notFound, ProblemError } from "../http/problem.ts";
import { type Call, flag, pathNames, type Route, route, Stream, whole } from "../http/route.ts";
import type { Runs } from "../runs/registry.ts";
import { ownThread } from "./own-thread.ts";

/** What an operation is told of this process. */
export interface OperationDeps {
  readonly runs: Runs;
  readonly requests: Pick<RecentRequests, "forget">;
}

export const operationRoutes = (deps: OperationDeps): readonly Route[] =>
  [threads, looking, reading, acting, shaping, memory, catalog, files, user, keys]
    .flatMap((acts) => Object.values<unknown>(acts).filter(isOperation))
    .map((one) => operationRoute(one, deps));

function isOperation(value: unknown): value is Operation<z.ZodObject, object> {
  return typeof value === "object" && value !== null && "path" in value && "run" in value;
}

function operationRoute(act: Operation<z.ZodObject, object>, deps: OperationDeps): Route {
  const { method, path, summary, access = "user", status, spends, input, output, media, refusal, run } = act;
  const { named, query, body } = fieldsOf(act);
  return route({
    method,
    path,
    summary,
    access,
    status,
    spends,
    gives: media,
    query: Object.keys(query.shape).length === 0 ? undefined : query,
    body: method === "GET" ? undefined : body,
    answer: output,
    async handle(call: Call<Given, Given>) {
      const sent = act.body === undefined ? call.body : { [act.body]: call.body };
      const given = { ...call.query, ...sent, ...(await fromPath(call, named, input)) };
      const result = await run(call.home, given, optionsOf(call, given, deps)).catch((error: unknown) => {
        throw located(error, query);
      });
      const refused = refusal?.(result) ?? null;
      if (refused !== null) throw refused;
      return result instanceof SentPieces ? new Stream(result.pieces, result.type) : result;
    },
  });
}

/** Which fields stand in the path, in the query and in the body. */
function fieldsOf({ method, path, input, query: inAddress = [], body: whole }: Operation) {
  const named = new Set(pathNames(path).map((name) => (name === "id" ? "thread" : name)));
  const fields = Object.entries(input.shape as Readonly<Record<string, z.ZodType>>).filter(
    ([name]) => !named.has(name),
  );
  const isQuery = ([name]: readonly [string, z.ZodType]) => method === "GET" || inAddress.includes(name);
  const query = z.strictObject(Object.fromEntries(fields.filter(isQuery).map(([name, of]) => [name, inQuery(of)])));
  const rest = z.strictObject(Object.fromEntries(fields.filter((field) => !isQuery(field))));
  return { named, query, body: whole === undefined ? rest : (input.shape[whole] as z.ZodType) };
}

function optionsOf(call: Call<Given, Given>, given: Given, { runs, requests }: OperationDeps): OperationOptions {
  const { home, caller, signal, meter } = call;
  return {
    signal,
    forget: requests.forget,
    // A dry run is not charged to a thread, so it isn't counted.
    onCompaction: given["dryRun"] === true ? () => {} : meter.event,
    runOn: async (userId, id) => (runs.on(userId, id) ?? (await runs.elsewhere(userId, id)))?.facts.id ?? null,
    assertEnds(role) {
      if (ROLES.indexOf(role) <= ROLES.indexOf(caller.role)) return;
      throw new ProblemError(403, "not-your-user", `this user has a key with the role ${role}: such a key must ask`);
    },
    forUser(userId) {
      if (mayAct(caller, userId)) return home.forUser(userId);
      throw new ProblemError(403, "not-your-user", "this key may not act for another user");
    },
  };
}

/** Each may end keys of its own role and of those before it. */
const ROLES: readonly string[] = ["user", "delegate", "admin"];

/** Says where the field is that an operation refuses. */
function located(error: unknown, query: z.ZodObject): unknown {
  if (!OperationError.isInstance(error) || error.field === null) return error;
  const part = error.field in query.shape ? "query" : "body";
  return new ProblemError(400, error.code, `${part}.${error.message}`);
}

type Given = Readonly<Record<string, unknown>>;

/** The thread must be the caller's; an invalid number names nothing. */
async function fromPath(call: Call<Given, Given>, named: ReadonlySet<string>, input: z.ZodObject): Promise<Given> {
  const given: Record<string, unknown> = {};
  for (const name of named) {
    if (name === "thread") given[name] = await ownThread(call);
    else {
      const text = call.params[name] ?? "";
      const parsed = inQuery(input.shape[name] as z.ZodType).safeParse(text);
      if (!parsed.success) throw notFound(`${name} ${JSON.stringify(text.slice(0, 140))}`);
      given[name] = parsed.data;
    }
  }
  return given;
}

/** An address holds texts only: numbers and booleans are written as such. */
function inQuery(schema: z.ZodType): z.ZodType {
  const isOptional = schema instanceof z.ZodOptional;
  const inner = isOptional ? (schema.unwrap() as z.ZodType) : schema;
  const read = inAddress(inner);
  if (read === null) return schema;
  const described = schema.description === undefined ? read : read.describe(schema.description);
  return isOptional ? described.optional() : described;
}

/** Null if it is a text anyway. */
function inAddress(schema: z.ZodType): z.ZodType | null {
  if (schema instanceof z.ZodBoolean) return flag;
  if (schema instanceof z.ZodNumber) return whole(schema.minValue ?? 0, schema.maxValue ?? undefined);
  return null;
}
