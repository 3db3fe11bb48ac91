/** Routes that are derived from operations: what an act takes and gives is said once, by the operation itself. */
import * as acting from "palimpsest/internal/acting";
import * as looking from "palimpsest/internal/looking";
import type { Operation } from "palimpsest/internal/operation";
import { z } from "zod";
import { notFound } from "../http/problem.ts";
import { type Call, pathNames, type Route, route } from "../http/route.ts";
import { whole } from "../http/schemas.ts";
import { ownThread } from "./own-thread.ts";

export const operationRoutes: readonly Route[] = [...Object.values(looking), ...Object.values(acting)].map((one) =>
  operationRoute(one as Operation<z.ZodObject, object>),
);

function operationRoute(act: Operation<z.ZodObject, object>): Route {
  const { method, path, summary, status, spends, input, output, refusal, run } = act;
  const named = new Set(pathNames(path).map((name) => (name === "id" ? "thread" : name)));
  const fields = Object.entries(input.shape).filter(([name]) => !named.has(name));
  const isQuery = method === "GET";
  const rest = z.strictObject(Object.fromEntries(isQuery ? fields.map(([name, of]) => [name, inQuery(of)]) : fields));
  return route({
    method,
    path,
    summary,
    access: "user",
    ...(status !== undefined && { status }),
    ...(spends !== undefined && { spends }),
    ...(isQuery ? fields.length > 0 && { query: rest } : { body: rest }),
    answer: output,
    async handle(call: Call<Given, Given>) {
      const given = { ...call.query, ...call.body, ...(await fromPath(call, named, input)) };
      const { signal, meter } = call;
      // A dry run costs tokens of nobody's thread: it isn't counted.
      const onCompaction = given["dryRun"] === true ? () => {} : meter.event;
      const result = await run(call.home, given, { signal, onCompaction });
      const refused = refusal?.(result) ?? null;
      if (refused !== null) throw refused;
      return result;
    },
  });
}

type Given = Readonly<Record<string, unknown>>;

/** The thread must be the caller's; a number that is none names nothing. */
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

/** An address holds texts only: a number is written as one. */
function inQuery(schema: z.ZodType): z.ZodType {
  const isOptional = schema instanceof z.ZodOptional;
  const inner = isOptional ? (schema.unwrap() as z.ZodType) : schema;
  if (!(inner instanceof z.ZodNumber)) return schema;
  const number = whole(inner.minValue ?? 0, inner.maxValue ?? undefined);
  const described = schema.description === undefined ? number : number.describe(schema.description);
  return isOptional ? described.optional() : described;
}
