/** The OpenAPI document of a table of routes: what validates is what is described. Pure. */
import { z } from "zod";
import { pathNames, type Route } from "./route.ts";

export function openApi(routes: readonly Route[], { version }: { readonly version: string }): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
  return {
    openapi: "3.1.0",
    info: { title: "Palimpsest gateway", version },
    paths,
    components: {
      schemas: { Error: schemaOf(errorBody, "output") },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
      },
    },
  };
}

const errorBody = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string(), details: z.unknown().optional() }),
});

function operation(route: Route): object {
  const { path, summary, access, status = 200, body, takes } = route;
  const isOpen = access === "open" || access === "page";
  return {
    summary,
    operationId: nameOf(route),
    security: isOpen ? [] : [{ bearer: [] }, { apiKey: [] }],
    parameters: [
      ...pathNames(path).map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
      ...queryParameters(route),
    ],
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: CONTENTS[takes ?? "json"] ?? { "application/json": { schema: schemaOf(body, "input") } },
      },
    }),
    responses: {
      [status]: { description: "Done.", content: contentOf(route) },
      default: {
        description: "Not done.",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    },
  };
}

function contentOf({ answer, gives = "application/json", streams }: Route): object {
  const events = { "text/event-stream": { schema: { type: "string" } } };
  if (streams === "always") return events;
  return { [gives]: { schema: schemaOf(answer, "output") }, ...(streams === "also" && events) };
}

const BINARY = { type: "string", format: "binary" };
/** What the body's own schema can't say. */
const CONTENTS: Partial<Record<NonNullable<Route["takes"]>, object>> = {
  files: {
    "multipart/form-data": { schema: { type: "object", properties: { file: { type: "array", items: BINARY } } } },
    "application/octet-stream": { schema: BINARY },
  },
  sessions: { "application/jsonl": { schema: { type: "string" } }, "application/zip": { schema: BINARY } },
};

/** `GET /api/threads/{id}` as `getThreadsById`. */
function nameOf({ method, path }: Route): string {
  const words = path
    .split("/")
    .filter((part) => part !== "" && part !== "api")
    .map((part) => part.replace(/^\{(.*)\}$/, "by-$1").replaceAll(".", "-"));
  const name = [method.toLowerCase(), ...words].join("-");
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function queryParameters({ query }: Route): object[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(query, "input") as {
    readonly properties?: Readonly<Record<string, { readonly description?: string }>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    description,
    schema,
  }));
}

function schemaOf(schema: z.ZodType, io: "input" | "output"): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}
