/** What Gemini's contents hold, how they are recognized and what their API accepts. */
import { isRecord } from "../../text/is-record.ts";
import type { DialectDefinition, MessageProblem } from "../dialect.ts";
import { googleRules } from "../rules.ts";
import { expected, fields, list, notAnObject, optional, roleProblem, string } from "../schema.ts";
import { type Fields, field, fieldOf } from "./media.ts";
import { type GeminiMessage, geminiShape } from "./shape.ts";

const ROLES = ["user", "model", "function", "system"];

/** What a part can be; the others are carried without being understood. */
const KINDS = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
];

function check(value: unknown): MessageProblem | null {
  if (!isRecord(value)) return notAnObject(value);
  const wrongRole = value["role"] === undefined ? null : roleProblem(value["role"], { name: "gemini", roles: ROLES });
  if (wrongRole !== null) return wrongRole;
  const { parts } = value;
  if (!Array.isArray(parts)) return { problem: "bad-content", detail: expected("a list of parts", parts, "parts") };
  const bad = list(part)(parts, "parts");
  return bad === null ? null : { problem: "bad-block", detail: bad };
}

function part(value: unknown, at: string): string | null {
  if (!isRecord(value)) return expected("an object", value, at);
  const problems = [
    optional(string)(value["text"], `${at}.text`),
    optional(string)(value[field(value, "thoughtSignature")], `${at}.thoughtSignature`),
    ...["inlineData", "fileData"].map((name) => optional(fields({}))(value[field(value, name)], `${at}.${name}`)),
    ...["functionCall", "functionResponse"].map((name) =>
      optional(fields({ name: string, id: optional(string) }))(value[field(value, name)], `${at}.${name}`),
    ),
    optional(list(fields({})))(fieldOf(value, "functionResponse")?.["parts"], `${at}.functionResponse.parts`),
  ];
  return problems.find((problem) => problem !== null) ?? null;
}

/** Parts without a type: UI messages have parts, too, but each of theirs says its type. */
function mark({ role, parts }: Fields): string | null {
  if (!Array.isArray(parts) || !parts.every((one) => isRecord(one) && typeof one["type"] !== "string")) return null;
  if (role !== undefined && !ROLES.includes(String(role))) return null;
  const own = parts.flatMap((one) => KINDS.find((kind) => kind !== "text" && field(one, kind) in one) ?? [])[0];
  return own === undefined ? "parts without a type" : `a part with ${own}`;
}

function unknownBlock({ parts }: Fields): string | null {
  const records = Array.isArray(parts) ? parts.filter(isRecord) : [];
  const strange = records.findIndex((one) => !KINDS.some((kind) => field(one, kind) in one));
  if (strange === -1) return null;
  const names = Object.keys(records[strange]!).join(", ") || "no field";
  return `parts[${strange}] has ${names}; gemini knows ${KINDS.join(", ")}`;
}

export const gemini: DialectDefinition<GeminiMessage> = {
  shape: geminiShape,
  rules: googleRules,
  check,
  mark,
  unknownBlock,
  model: "gemini-2.5-pro",
  carries: (signer) => signer === "google" || signer === "vertex",
  resultsIn: "user",
  control: [],
};
