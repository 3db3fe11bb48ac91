/** The types of the gateway's routes for its client, made from the table that the server is made from. */
import { openApi } from "../../packages/gateway/src/http/openapi.ts";
import { allRoutes } from "../../packages/gateway/src/routes.ts";
import { type Schema, typeText } from "./type-text.ts";

interface Operation {
  readonly summary: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: "path" | "query";
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

/** Texts by the name of their file; each file is about the routes of one part of the API. */
export function clientRoutes(): ReadonlyMap<string, string> {
  const routes = allRoutes({
    status: { notReady: async () => null, metrics: async () => "" },
    agents: null as never,
    runs: null as never,
    after: () => () => {},
    requests: null as never,
    session: null as never,
    closing: null as never,
    version: "0",
  });
  const { paths } = openApi(routes, { version: "0" }) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  const parts = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      const part = partOf(path);
      const entries = parts.get(part) ?? [];
      entries.push(
        `/** ${operation.summary}. */\n${JSON.stringify(`${method.toUpperCase()} ${path}`)}: ${entryText(operation)};`,
      );
      parts.set(part, entries);
    }
  const files = [...parts].map(([part, entries]) => [`${part}.ts`, fileText(part, entries)] as const);
  return new Map([...files, ["index.ts", indexText([...parts.keys()])]]);
}

/** All that there is about a thread would make one file too long. */
function partOf(path: string): string {
  const [, first = "", second = "", , fourth] = path.split("/");
  if (first !== "api") return "server";
  if (second === "threads" && fourth !== undefined) return OF_A_THREAD[fourth] ?? "threads";
  return PARTS.has(second) ? second : "catalog";
}

const PARTS: ReadonlySet<string> = new Set(["threads", "runs", "chat", "memory"]);

const LOOKING = ["view", "window", "lines", "context", "timeline", "requests", "records", "search"];
const SHAPING = ["rules", "edit-rule", "end-rule", "restore-rule", "notes", "hide", "show", "compact-range"];
const ACTS = ["compact", "undo", "redo", "fork", "pin", "redact", "verify", "approvals", "approve", "runs"];
const OF_A_THREAD: Readonly<Record<string, string>> = Object.fromEntries([
  ...LOOKING.map((name) => [name, "thread-views"]),
  ...ACTS.map((name) => [name, "thread-acts"]),
  ...SHAPING.map((name) => [name, "thread-shape"]),
]);

function entryText({ parameters, requestBody, responses }: Operation): string {
  const [answer] = Object.values(responses);
  const params = parameters.filter((one) => one.in === "path").map(({ name }) => `readonly ${name}: string;`);
  const query = parameters
    .filter((one) => one.in === "query")
    .map(({ name, required, schema }) => `readonly ${name}${required ? "" : "?"}: ${queryText(schema)};`);
  const body = requestBody?.content["application/json"];
  const fields = [
    params.length === 0 ? "" : `readonly params: {\n${params.join("\n")}\n};`,
    query.length === 0
      ? ""
      : `readonly query${query.some((one) => !one.includes("?:")) ? "" : "?"}: {\n${query.join("\n")}\n};`,
    requestBody?.content["application/zip"] !== undefined
      ? "readonly body: string | Blob;"
      : bodyText(requestBody === undefined ? null : (body?.schema ?? { type: "string" })),
    `readonly answer: ${answerText(answer?.content ?? {})};`,
  ];
  return `{\n${fields.filter((text) => text !== "").join("\n")}\n}`;
}

/** An address has texts only; numbers are written as such. */
function queryText(schema: Schema): string {
  const text = typeText(schema);
  return text === "string" ? "string | number" : text;
}

function bodyText(schema: Schema | null): string {
  if (schema === null) return "";
  const isOptional = schema.type === "object" && (schema.required ?? []).length === 0;
  return `readonly body${isOptional ? "?" : ""}: ${typeText(schema)};`;
}

function answerText(content: Content): string {
  const json = content["application/json"];
  return json === undefined ? "string" : typeText(json.schema);
}

const MADE = "/** Made by `npm run client-routes` from the gateway's table of routes. */";

function fileText(part: string, entries: readonly string[]): string {
  return `${MADE}\nexport interface ${interfaceName(part)} {\n${entries.join("\n")}\n}\n`;
}

function indexText(parts: readonly string[]): string {
  const imports = parts.map((part) => `import type { ${interfaceName(part)} } from "./${part}.ts";`);
  return `${MADE}\n${imports.toSorted().join("\n")}\n\nexport interface Routes extends ${parts.map(interfaceName).join(", ")} {}\n`;
}

function interfaceName(part: string): string {
  return `${part.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}Routes`;
}
