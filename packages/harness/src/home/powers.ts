/**
 * What a configuration would be allowed to do beyond settings: run code, send keys or conversations to an address or
 * account it names, run commands on this machine, put words into prompts, decide what a person is asked about, reach
 * files elsewhere, read the environment, delete what a home keeps. Looks at the file as it is written, valid or not and
 * before variables are put in. Pure.
 */
import { isAbsolute } from "node:path";
import { isRecord } from "@palimpsest/core/internal/text";
import { KEY_VARIABLES } from "../models/facts.ts";
import { variableOf } from "./find.ts";
import { configSchema } from "./schema.ts";
import type { Power } from "./trust.ts";

export function powersOf(written: unknown): Power[] {
  const root = fields(written);
  const memory = fields(root["memory"]);
  const endpoints = endpointsIn(root);
  return [
    ...modulesOf(written).map((module) => power("code", "memory.storage_class", `run the code of ${module}`)),
    ...endpoints.flatMap(({ key, entry }) => addressPowers(entry, key)),
    ...(isOff(fields(root["workspace"])["host_bash"])
      ? []
      : [power("host", "workspace.host_bash", "run shell commands on this machine, outside of the sandbox")]),
    ...openedFiles(fields(root["workspace"])["protected"]),
    ...Object.entries(fields(root["mcp_servers"])).flatMap(([name, one]) => serverPowers(name, fields(one))),
    ...promptPowers(root),
    ...(fields(root["approval"])["tools"] === undefined
      ? []
      : [power("approval", "approval.tools", "decide which calls you are asked about")]),
    ...placePowers(root),
    ...environmentPowers(written, endpoints),
    ...listening(fields(root["gateway"])["host"]),
    ...passing(fields(root["gateway"])["pass_through"]),
    ...deletions(memory, fields(root["subagents"])),
    ...retention(fields(root["gateway"])["retention_days"]),
  ];
}

/** The modules it would load, as it names them; what is loaded is part of what must be trusted. */
export function modulesOf(written: unknown): string[] {
  const named = fields(fields(written)["memory"])["storage_class"];
  if (named === undefined || named === null) return [];
  return typeof named === "string" && BUILT_IN_STORAGE.test(named) ? [] : [String(named)];
}

export const BUILT_IN_STORAGE = /^(?:file|sqlite|postgres|(?:[\w.]+\.)?FileMemoryStorage)$/;

interface PowerEndpoint {
  /** Where it stands in the file. */
  readonly key: string;
  readonly entry: WrittenFields;
}

/** What is sent somewhere: every model, and the embedder. */
function endpointsIn(root: WrittenFields): PowerEndpoint[] {
  const models = Array.isArray(root["models"]) ? root["models"] : [];
  return [
    ...models.map((model, index) => ({ key: `models.${index}`, entry: fields(model) })),
    { key: "recall.embedder", entry: fields(fields(root["recall"])["embedder"]) },
  ];
}

function addressPowers(model: WrittenFields, key: string): Power[] {
  const address = model["base_url"];
  if (address === undefined || address === null) return accountPowers(model, key);
  const named = variableOf(model["api_key"]);
  const usual = model["api_key"] === undefined ? KEY_VARIABLES[String(model["provider"])] : undefined;
  const variable = named ?? usual;
  const what =
    variable === undefined ? "what is said and remembered" : `your $${variable}, and what is said and remembered,`;
  return [power(variable === undefined ? "address" : "key", `${key}.base_url`, `send ${what} to ${shown(address)}`)];
}

/** A key that stands in the file is its writer's: so is the account, where a provider shows what was asked and answered. */
function accountPowers({ api_key: written, provider }: WrittenFields, key: string): Power[] {
  if (written === undefined || written === null || variableOf(written) !== undefined) return [];
  const detail = `send what is said and remembered to ${shown(provider)} with a key of its own: whoever has that account can read it`;
  return [power("address", `${key}.api_key`, detail)];
}

/** What your programs run because it is there: its writer runs commands with your rights. */
function openedFiles(list: unknown): Power[] {
  if (list === undefined || list === null) return [];
  const kept: readonly unknown[] = Array.isArray(list) ? list : [];
  const opened = USUAL.workspace.protected.filter((name) => !kept.includes(name));
  if (opened.length === 0) return [];
  return [power("host", "workspace.protected", `let the agent change what your programs run: ${opened.join(", ")}`)];
}

/** What its tools answer goes into prompts, and what a model asks of them leaves this machine. */
function serverPowers(name: string, { command, args, url }: WrittenFields): Power[] {
  const key = `mcp_servers.${name}`;
  if (url !== undefined && url !== null)
    return [power("address", `${key}.url`, `give the agent the tools of ${shown(url)}`)];
  const words = [command, ...(Array.isArray(args) ? args : [])].map(String).join(" ");
  const does = command === undefined ? `start the MCP server ${name}` : `run the program ${shown(words)}`;
  return [power("host", `${key}.command`, `${does} on this machine`)];
}

/** Words that a model follows, as it does a skill's; a summary's prompt also decides what is kept. */
function promptPowers(root: WrittenFields): Power[] {
  const agents = Object.entries(fields(fields(root["subagents"])["agents"]));
  return [
    words(
      fields(root["summarization"]),
      "summarization.summary_prompt",
      "tell the model that writes summaries what to keep",
    ),
    words(fields(root["rules"]), "rules.agent", "give the agent standing rules"),
    words(fields(root["rules"]), "rules.users", "give the agent standing rules of users"),
    words(fields(root["rules"]), "rules.files", "give the agent the rules in files"),
    ...agents.flatMap(([name, agent]) => [
      words(fields(agent), `subagents.agents.${name}.description`, `tell the agent when to use the sub-agent ${name}`),
      words(fields(agent), `subagents.agents.${name}.system_prompt`, `give the sub-agent ${name} its instructions`),
    ]),
  ].flat();
}

function words(section: WrittenFields, key: string, detail: string): Power[] {
  const value = section[key.slice(key.lastIndexOf(".") + 1)];
  const isEmpty = typeof value === "object" && Object.keys(value ?? {}).length === 0;
  return value === undefined || isEmpty ? [] : [power("prompt", key, detail)];
}

function listening(host: unknown): Power[] {
  if (host === undefined || host === null || /^(?:localhost|::1|127(?:\.\d{1,3}){3})$/i.test(String(host))) return [];
  return [power("address", "gateway.host", `let other machines reach what is said and remembered, at ${shown(host)}`)];
}

function passing(list: unknown): Power[] {
  const usual: readonly unknown[] = [...USUAL.gateway.pass_through];
  const isUsual =
    list === undefined || list === null || (Array.isArray(list) && list.every((one) => usual.includes(one)));
  const more = "let every key of the gateway use more of your accounts with providers";
  return isUsual ? [] : [power("key", "gateway.pass_through", more)];
}

/** Every other variable: its value would end up in a prompt, a request or a path. */
function environmentPowers(written: unknown, endpoints: readonly PowerEndpoint[]): Power[] {
  const usual = new Set(endpoints.flatMap(usualKey));
  return strings(written, []).flatMap(({ path, text }) => {
    const variable = variableOf(text);
    const key = path.join(".");
    if (variable === undefined || usual.has(key)) return [];
    return [power("environment", key, `read $${variable} from your environment`)];
  });
}

/** A provider's own variable sent to the provider itself; what is sent to an address is said with the address. */
function usualKey({ key, entry }: PowerEndpoint): string[] {
  const variable = variableOf(entry["api_key"]);
  if (variable === undefined) return [];
  const addressed = entry["base_url"] !== undefined && entry["base_url"] !== null;
  return addressed || variable === KEY_VARIABLES[String(entry["provider"])] ? [`${key}.api_key`] : [];
}

/** The home may be the person's own, and everything in it is kept by the limits of whichever configuration is used. */
function deletions(memory: WrittenFields, subagents: WrittenFields): Power[] {
  const { max_facts: facts } = memory;
  const { retention_days: days } = subagents;
  return [
    ...(below(facts, USUAL.memory.max_facts)
      ? [power("deletes", "memory.max_facts", `forget all but ${facts} of what is remembered`)]
      : []),
    ...(below(days, USUAL.subagents.retention_days)
      ? [power("deletes", "subagents.retention_days", `delete sub-agents' threads after ${days} days`)]
      : []),
  ];
}

function retention(days: unknown): Power[] {
  if (days === undefined || days === null) return [];
  return [power("deletes", "gateway.retention_days", `delete threads that nobody changed for ${shown(days)} days`)];
}

const USUAL = configSchema.parse({});

function below(value: unknown, usual: number): value is number {
  return typeof value === "number" && value < usual;
}

/**
 * Inside of the home, too: there are the database and the keys' secret, which must not be taken for a memory, and what agents
 * and uploads wrote, which must not be taken for instructions.
 */
function placePowers(root: WrittenFields): Power[] {
  const { memory, skills } = USUAL;
  const { url, listen_url: listening } = fields(root["store"]);
  return [
    ...elsewhere(fields(root["memory"])["storage_path"], memory.storage_path, [
      "memory.storage_path",
      "keep memory in",
    ]),
    ...elsewhere(fields(root["skills"])["path"], skills.path, ["skills.path", "read instructions from"]),
    ...[fields(root["rules"])["files"]]
      .flat()
      .flatMap((file) => (isInside(file) ? [] : elsewhere(file, null, ["rules.files", "read rules from"]))),
    ...elsewhere(url, null, ["store.url", "keep threads in"]),
    ...elsewhere(listening, null, ["store.listen_url", "listen at"]),
  ];
}

function elsewhere(value: unknown, usual: string | null, [key, verb]: readonly [key: string, verb: string]): Power[] {
  if (value === undefined || value === null || value === usual || variableOf(value) !== undefined) return [];
  return [power("files", key, `${verb} ${shown(value)}`)];
}

/** Of rules: reading any file is asked about anyway, this says where it is. */
function isInside(value: unknown): boolean {
  return (
    typeof value === "string" &&
    !isAbsolute(value) &&
    !/^[a-z][a-z0-9+.-]+:/i.test(value) &&
    !value.split(/[\\/]/).includes("..")
  );
}

/** An address may hold a password. */
function shown(value: unknown): string {
  return String(value)
    .slice(0, 200)
    .replace(/\/\/[^/@]{0,200}@/, "//…@");
}

function isOff(value: unknown): boolean {
  return value === undefined || value === null || value === false;
}

function power(kind: Power["kind"], key: string, detail: string): Power {
  // A stranger's words may hold what a terminal would obey.
  return { kind, key, detail: detail.replace(/\p{Cc}/gu, "\uFFFD") };
}

type WrittenFields = Readonly<Record<string, unknown>>;

function fields(value: unknown): WrittenFields {
  return isRecord(value) ? value : {};
}

function strings(value: unknown, path: readonly string[]): { path: readonly string[]; text: string }[] {
  if (typeof value === "string") return [{ path, text: value }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => strings(inner, [...path, key]));
}
