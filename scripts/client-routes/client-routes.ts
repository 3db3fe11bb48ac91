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

/** The text of `client/routes.ts`. */
export function clientRoutes(): string {
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
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) =>
        `/** ${operation.summary}. */\n${JSON.stringify(`${method.toUpperCase()} ${path}`)}: ${entryText(operation)};`,
    ),
  );
  return `${MADE}\nexport interface Routes {\n${entries.join("\n")}\n}\n`;
}

const MADE = "/** Made from the gateway's table of routes by `npm run client-routes`, and not committed. */";

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
