/**
 * What `palimpsest config` does with a file: check it, upgrade its text, write a first one, describe it as JSON Schema.
 * Nothing that the file names is loaded or called, so the file need not be trusted.
 */
import { resolve } from "node:path";
import { isRecord } from "@palimpsest/core/internal/text";
import type { Node, Pair, YAMLMap, YAMLSeq } from "yaml";
import { z } from "zod/v4";
import { SettingsError, summarizationFromFile } from "../compaction/summarization.ts";
import { yaml } from "../home-folders.ts";
import { KEY_VARIABLES } from "../models/facts.ts";
import { inspectConfig, parseConfig, type SettingFinding, upgradeConfig } from "./config.ts";
import { BUILT_IN_STORAGE } from "./powers.ts";
import { CONFIG_VERSION, type ConfigFile, configSchema } from "./schema.ts";

export interface ConfigFinding {
  /** A problem stops something; a warning may be meant, or may be mended outside of the file. */
  readonly severity: "problem" | "warning";
  /** From 1; null where it is about no line. */
  readonly line: number | null;
  readonly message: string;
}

export interface ConfigCheckOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What relative paths in the file are seen from. */
  readonly home: string;
  readonly exists: (path: string) => boolean;
}

export function checkConfig(text: string, options: ConfigCheckOptions): readonly ConfigFinding[] {
  const inspected = inspectConfig(text, options);
  const line = linesIn(text);
  const located = (severity: ConfigFinding["severity"], findings: readonly SettingFinding[]): ConfigFinding[] =>
    findings
      .map((finding) => ({ severity, line: line(finding), message: finding.message }))
      .sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  if (inspected.kind === "invalid") return located("problem", inspected.problems);
  const { config, warnings } = inspected;
  const problems = [...addresses(config), ...clashes(config), ...storage(config, options), ...store(config)];
  const doubts = [...warnings, ...keys(config, options), ...twins(config)];
  return [...located("problem", problems), ...located("warning", doubts)];
}

interface CheckedEndpoint extends Pick<ConfigFile["models"][number], "provider" | "api_key" | "base_url"> {
  readonly path: readonly PropertyKey[];
  /** What a person calls it. */
  readonly name: string;
}

/** What requests are sent to: every model, and the embedder. */
function endpointsIn({ models, recall: { embedder } }: ConfigFile): CheckedEndpoint[] {
  return [
    ...models.map((model, index) => ({ ...model, path: ["models", index] })),
    ...(embedder === null ? [] : [{ ...embedder, name: embedder.model, path: ["recall", "embedder"] }]),
  ];
}

function addresses(config: ConfigFile): SettingFinding[] {
  return endpointsIn(config).flatMap(({ path, name, provider, base_url: address }): SettingFinding[] => {
    const key = path.join(".");
    const example = "for example http://127.0.0.1:11434/v1";
    if (address === undefined)
      return provider === "openai-compatible"
        ? [{ path, message: `${key} (${name}) is openai-compatible and needs a base_url, ${example}` }]
        : [];
    // The address itself may hold a password, so it isn't repeated.
    return /^https?:$/.test(URL.parse(address)?.protocol ?? "")
      ? []
      : [{ path: [...path, "base_url"], message: `${key}.base_url (${name}) is no URL, ${example}` }];
  });
}

/** Whether a key is there is a matter of the machine, not of the file. */
function keys(config: ConfigFile, { env }: ConfigCheckOptions): SettingFinding[] {
  return endpointsIn(config).flatMap(({ path, name, provider, api_key: key }) => {
    const usual = KEY_VARIABLES[provider];
    if (usual === undefined || (key ?? env[usual] ?? "").trim() !== "") return [];
    const message = `${path.join(".")} (${name}) has no key here: set ${usual}, or the variable its api_key names`;
    return [{ path, message }];
  });
}

function twins({ models }: ConfigFile): SettingFinding[] {
  return models.flatMap(({ name }, index) =>
    models.findIndex((one) => one.name === name) === index
      ? []
      : [
          {
            path: ["models", index, "name"],
            message: `models.${index}.name is "${name}" again: only the first is used`,
          },
        ],
  );
}

/** Values that are allowed one by one and can't be meant together. */
function clashes({ summarization }: ConfigFile): SettingFinding[] {
  try {
    summarizationFromFile(summarization);
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.problems.map((problem) => ({ path: ["summarization"], message: `summarization: ${problem}` }));
  }
}

function storage({ memory }: ConfigFile, { home, exists }: ConfigCheckOptions): SettingFinding[] {
  const { storage_class: named } = memory;
  if (BUILT_IN_STORAGE.test(named)) return [];
  const path = ["memory", "storage_class"];
  const [module = ""] = named.split("#");
  if (!/^(?:\.{0,2}\/|[A-Za-z]:[\\/])|\.[cm]?[jt]s$/.test(module)) {
    const message = `memory.storage_class is ${JSON.stringify(named)}: allowed are file, sqlite, postgres or ./module.js#Export`;
    return [{ path, message }];
  }
  if (exists(resolve(home, module))) return [];
  return [{ path, message: `memory.storage_class can't be loaded: there is no ${resolve(home, module)}` }];
}

function store({ store: { url } }: ConfigFile): SettingFinding[] {
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(url ?? "")?.[1];
  if (scheme === undefined || /^(?:postgres|postgresql|file)$/i.test(scheme)) return [];
  const message = `store.url: no store speaks ${JSON.stringify(scheme)}: give a path, or postgres://user@host/database`;
  return [{ path: ["store", "url"], message }];
}

/** Where the key of a finding stands, else the nearest one around it. */
function linesIn(text: string): (finding: SettingFinding) => number | null {
  const { LineCounter, parseDocument, isMap, isSeq } = yaml();
  const counter = new LineCounter();
  const { contents } = parseDocument(text, { lineCounter: counter, logLevel: "silent" });
  return ({ path, message }) => {
    const stated = /\bat line (\d+)/.exec(message)?.[1];
    if (stated !== undefined) return Number(stated);
    let node: unknown = contents;
    let at: number | null = null;
    for (const key of path) {
      const pair = isMap(node) ? pairOf(node as YAMLMap, key) : undefined;
      const next = pair?.value ?? (isSeq(node) ? (node as YAMLSeq).items[Number(key)] : undefined);
      const start = ((pair?.key ?? next) as Node | undefined)?.range?.[0];
      if (start === undefined) break;
      at = counter.linePos(start).line;
      node = next;
    }
    return at;
  };
}

function pairOf({ items }: YAMLMap, key: PropertyKey): Pair | undefined {
  return items.find((pair) => String((pair.key as { value?: unknown } | null)?.value) === String(key));
}

/* Upgrading the text: only what the upgrade changes is touched, so comments, order and spelling stay. */

export type RewrittenConfig =
  | { readonly kind: "current"; readonly version: number }
  | { readonly kind: "rewritten"; readonly text: string; readonly from: number | null; readonly to: number }
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

export function rewriteConfig(
  text: string,
  { env }: { readonly env: Readonly<Record<string, string | undefined>> },
): RewrittenConfig {
  const checked = parseConfig(text, { env });
  if (checked.kind === "invalid") return checked;
  const document = yaml().parseDocument(text);
  const before = (document.toJS() ?? {}) as Record<string, unknown>;
  const upgraded = upgradeConfig(before);
  if (upgraded.kind === "refused") return { kind: "invalid", problems: [upgraded.problem] };
  const stated = before["config_version"];
  if (Number(stated) === CONFIG_VERSION) return { kind: "current", version: CONFIG_VERSION };
  if (!yaml().isMap(document.contents)) document.contents = document.createNode({}) as never;
  const { config_version: _version, ...rest } = upgraded.value;
  apply(before, rest, [], {
    set: (path, value) => document.setIn(path, value),
    drop: (path) => document.deleteIn(path),
  });
  // First in the file where it is new; the comments above the old first key stay with that key.
  if (stated === undefined)
    (document.contents as YAMLMap).items.unshift(document.createPair("config_version", CONFIG_VERSION));
  else document.set("config_version", CONFIG_VERSION);
  // Long lines are the user's own.
  const rewritten = document.toString({ lineWidth: 0 });
  return { kind: "rewritten", text: rewritten, from: stated === undefined ? null : Number(stated), to: CONFIG_VERSION };
}

interface KeyEdit {
  set(path: readonly string[], value: unknown): void;
  drop(path: readonly string[]): void;
}

/** Edits what differs, key by key; a list counts as one value. */
function apply(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  path: readonly string[],
  edit: KeyEdit,
): void {
  for (const key of Object.keys(before))
    if (!(key in after) && !(path.length === 0 && key === "config_version")) edit.drop([...path, key]);
  for (const [key, value] of Object.entries(after)) {
    const old = before[key];
    if (isRecord(old) && isRecord(value)) apply(old, value, [...path, key], edit);
    else if (JSON.stringify(old) !== JSON.stringify(value)) edit.set([...path, key], value);
  }
}

/* The file that `config init` writes: one model, defaults for everything else. */

export interface StarterAnswers {
  readonly provider: ConfigFile["models"][number]["provider"];
  readonly model: string;
  /** A variable's name: the key itself is never written to a file. */
  readonly keyVariable: string | null;
  readonly baseUrl: string | null;
  /** Null: known for the model, or the fallback. */
  readonly window: number | null;
}

export function starterConfig({ provider, model, keyVariable, baseUrl, window }: StarterAnswers): string {
  const entry = {
    name: "main",
    provider,
    model,
    ...(baseUrl !== null && { base_url: baseUrl }),
    ...(keyVariable !== null && { api_key: `$${keyVariable}` }),
    ...(window !== null && { max_input_tokens: window }),
  };
  const head = `# Written by "palimpsest config init". "palimpsest config schema" knows every key; what is left out has its default.\n`;
  return head + yaml().stringify({ config_version: CONFIG_VERSION, models: [entry] });
}

/** What can't be used, in a sentence that says what would be; null where all is well. */
export function answerProblem({ model, keyVariable, baseUrl, provider }: StarterAnswers): string | null {
  if (model.trim() === "") return "the model is empty: give the provider's id for it, such as gpt-5-mini";
  if (keyVariable !== null && !/^[A-Za-z_]\w*$/.test(keyVariable))
    return `the key is named by a variable of the environment, such as ${KEY_VARIABLES[provider] ?? "MY_API_KEY"}; a key itself is not written to a file`;
  if (provider === "openai-compatible" && baseUrl === null)
    return "openai-compatible needs an address, such as http://127.0.0.1:11434/v1";
  if (baseUrl !== null && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? ""))
    return "the address is no URL: for example http://127.0.0.1:11434/v1";
  return null;
}

/** The JSON Schema for editors: keys with a default are optional. */
export function configJsonSchema(): object {
  return {
    ...z.toJSONSchema(configSchema, { io: "input" }),
    title: "palimpsest configuration",
    description: "config.yaml of palimpsest. `palimpsest config check` says what is wrong in one.",
  };
}
