/**
 * What can't work in a configuration although each value is allowed: an address that is none, a key that is nowhere, a
 * storage that can't be loaded. Looks and never obeys: nothing is loaded or asked, so the file need not be trusted.
 */
import { resolve } from "node:path";
import type { Node, Pair, YAMLMap, YAMLSeq } from "yaml";
import { SettingsError, summarizationFromFile } from "../compaction/summarization.ts";
import { KEY_VARIABLES } from "../models/key-variables.ts";
import { yaml } from "../yaml.ts";
import { type Finding, inspectConfig } from "./parse.ts";
import { BUILT_IN_STORAGE } from "./powers.ts";
import type { ConfigFile } from "./schema.ts";

export interface ConfigFinding {
  /** A problem stops something; a warning may be meant, or may be mended outside of the file. */
  readonly severity: "problem" | "warning";
  /** From 1; null where it is about no line. */
  readonly line: number | null;
  readonly message: string;
}

export interface CheckOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What relative paths in the file are seen from. */
  readonly home: string;
  readonly exists: (path: string) => boolean;
}

export function checkConfig(text: string, options: CheckOptions): readonly ConfigFinding[] {
  const inspected = inspectConfig(text, options);
  const line = linesIn(text);
  const located = (severity: ConfigFinding["severity"], findings: readonly Finding[]): ConfigFinding[] =>
    findings
      .map((finding) => ({ severity, line: line(finding), message: finding.message }))
      .sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  if (inspected.kind === "invalid") return located("problem", inspected.problems);
  const { config, warnings } = inspected;
  const problems = [...addresses(config), ...clashes(config), ...storage(config, options), ...store(config)];
  const doubts = [...warnings, ...keys(config, options), ...twins(config)];
  return [...located("problem", problems), ...located("warning", doubts)];
}

interface Endpoint extends Pick<ConfigFile["models"][number], "provider" | "api_key" | "base_url"> {
  readonly path: readonly PropertyKey[];
  /** What a person calls it. */
  readonly name: string;
}

/** What requests are sent to: every model, and the embedder. */
function endpointsIn({ models, recall: { embedder } }: ConfigFile): Endpoint[] {
  return [
    ...models.map((model, index) => ({ ...model, path: ["models", index] })),
    ...(embedder === null ? [] : [{ ...embedder, name: embedder.model, path: ["recall", "embedder"] }]),
  ];
}

function addresses(config: ConfigFile): Finding[] {
  return endpointsIn(config).flatMap(({ path, name, provider, base_url: address }): Finding[] => {
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
function keys(config: ConfigFile, { env }: CheckOptions): Finding[] {
  return endpointsIn(config).flatMap(({ path, name, provider, api_key: key }) => {
    const usual = KEY_VARIABLES[provider];
    if (usual === undefined || (key ?? env[usual] ?? "").trim() !== "") return [];
    const message = `${path.join(".")} (${name}) has no key here: set ${usual}, or the variable its api_key names`;
    return [{ path, message }];
  });
}

function twins({ models }: ConfigFile): Finding[] {
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
function clashes({ summarization }: ConfigFile): Finding[] {
  try {
    summarizationFromFile(summarization);
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.problems.map((problem) => ({ path: ["summarization"], message: `summarization: ${problem}` }));
  }
}

function storage({ memory }: ConfigFile, { home, exists }: CheckOptions): Finding[] {
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

function store({ store: { url } }: ConfigFile): Finding[] {
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(url ?? "")?.[1];
  if (scheme === undefined || /^(?:postgres|postgresql|file)$/i.test(scheme)) return [];
  const message = `store.url: no store speaks ${JSON.stringify(scheme)}: give a path, or postgres://user@host/database`;
  return [{ path: ["store", "url"], message }];
}

/** Where the key of a finding stands, else the nearest one around it. */
function linesIn(text: string): (finding: Finding) => number | null {
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
