/**
 * A client made of nothing but `/openapi.json`: one function for each operation, which fills in the path, the query and
 * the body as the document says and holds the answer to the document's schema. It knows no route of ours.
 */
import { z } from "zod";

type Json = Parameters<typeof z.fromJSONSchema>[0];

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly schema: Json;
}

type Content = Readonly<Record<string, { readonly schema: Json }>>;

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, "method" | "path">>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

export function operationsOf({ paths }: ApiDocument): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
}

export interface ApiInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** An object as JSON; a text as the first type the operation takes that is none. */
  readonly body?: unknown;
}

export interface ApiAnswer {
  readonly status: number;
  readonly type: string;
  /** Parsed where it is JSON. */
  readonly value: unknown;
  /** What the document says otherwise; null: it is as described. */
  readonly problem: string | null;
}

export type ApiClient = Readonly<Record<string, (input?: ApiInput) => Promise<ApiAnswer>>>;

export function clientOf(
  document: ApiDocument,
  { url, key }: { readonly url: string; readonly key: string },
): ApiClient {
  return Object.fromEntries(
    operationsOf(document).map((operation) => [
      operation.operationId,
      async (input: ApiInput = {}) => {
        const response = await fetch(url + pathOf(operation, input), requestOf(operation, input, key));
        const text = await response.text();
        return read(document, operation, response, text);
      },
    ]),
  );
}

function pathOf({ path, parameters }: Operation, { params = {}, query = {} }: ApiInput): string {
  for (const { name, in: where, required } of parameters)
    if (required && (where === "path" ? params : query)[name] === undefined) throw new Error(`${path} needs ${name}`);
  for (const name of Object.keys(query))
    if (!parameters.some((one) => one.in === "query" && one.name === name)) throw new Error(`${path} takes no ${name}`);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name]!));
  const search = new URLSearchParams(query).toString();
  return search === "" ? filled : `${filled}?${search}`;
}

function requestOf({ method, requestBody }: Operation, { body }: ApiInput, key: string): RequestInit {
  const types = Object.keys(requestBody?.content ?? {});
  const isJson = types.includes("application/json");
  const type = isJson ? "application/json" : types.at(-1);
  const content = isJson ? JSON.stringify(body ?? {}) : typeof body === "string" ? body : "";
  return {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      "x-palimpsest-client": "generated",
      ...(type !== undefined && { "content-type": type }),
    },
    ...(type !== undefined && { body: content }),
  };
}

function read(document: ApiDocument, operation: Operation, response: Response, text: string): ApiAnswer {
  const { status } = response;
  const type = (response.headers.get("content-type") ?? "").split(";", 1)[0]!;
  const isJson = type === "application/json";
  const value: unknown = isJson ? JSON.parse(text) : text;
  const content = (operation.responses[status] ?? operation.responses["default"])?.content;
  const described = content?.[type] ?? content?.["*/*"];
  const problem = status === 204 ? null : problemOf(document, described?.schema, value, type);
  return { status, type, value, problem };
}

function problemOf({ components }: ApiDocument, schema: Json | undefined, value: unknown, type: string): string | null {
  if (schema === undefined) return `it says nothing of ${type}`;
  const name = /^#\/components\/schemas\/(\w+)$/.exec((schema as { $ref?: string }).$ref ?? "")?.[1];
  const checked = z.fromJSONSchema(name === undefined ? schema : components.schemas[name]!).safeParse(value);
  return checked.success ? null : JSON.stringify(checked.error.issues.slice(0, 3));
}
