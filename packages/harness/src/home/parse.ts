/**
 * From the text of a configuration file to a checked one, or to every problem in it: where, what stands there, what is
 * allowed, what was probably meant. Pure: no file is read here and the environment is an argument.
 */
import { isRecord } from "@palimpsest/core/internal/text";
import type { z } from "zod/v4";
import { noteUnset } from "../models/key-variables.ts";
import { nearest } from "../nearest.ts";
import { readYaml } from "./read-yaml.ts";
import { type ConfigFile, configSchema } from "./schema.ts";
import { upgradeConfig } from "./upgrade.ts";
import { variableOf } from "./variables.ts";

export interface ParseOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The text is a fragment that belongs under this key, such as `summarization`. */
  readonly under?: string;
}

export type ParsedConfig =
  | { readonly kind: "config"; readonly config: ConfigFile; readonly warnings: readonly string[] }
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

export function parseConfig(text: string, options: ParseOptions): ParsedConfig {
  const inspected = inspectConfig(text, options);
  const messagesOf = (findings: readonly Finding[]) => findings.map(({ message }) => message);
  return inspected.kind === "invalid"
    ? { kind: "invalid", problems: messagesOf(inspected.problems) }
    : { ...inspected, warnings: messagesOf(inspected.warnings) };
}

/** Something about a file, and the key it is about; an empty path is the file itself. */
export interface Finding {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** `always`: at every start; otherwise only where warnings are asked for. */
  readonly told?: "always";
}

export type InspectedConfig =
  | { readonly kind: "config"; readonly config: ConfigFile; readonly warnings: readonly Finding[] }
  | { readonly kind: "invalid"; readonly problems: readonly Finding[] };

/** As `parseConfig`, with where each thing stands. */
export function inspectConfig(text: string, { env, under }: ParseOptions): InspectedConfig {
  const read = readYaml(text);
  if (read.kind === "invalid") return { kind: "invalid", problems: read.problems.map((message) => whole(message)) };
  const raw = read.value ?? {};
  const rooted = under === undefined ? raw : { [under]: raw };
  if (!isRecord(rooted)) {
    return {
      kind: "invalid",
      problems: [whole("the file must hold keys and values, such as `models:`; see config.example.yaml")],
    };
  }
  const upgraded = upgradeConfig(rooted);
  if (upgraded.kind === "refused") return { kind: "invalid", problems: [whole(upgraded.problem)] };
  const missing: Unset[] = [];
  const expanded = expandEnv(upgraded.value, [], { env, missing });
  const result = configSchema.safeParse(expanded);
  // Shown as the file has it: what a variable holds may be a secret, whatever the key.
  if (!result.success) return { kind: "invalid", problems: describeIssues(result.error.issues, upgraded.value) };
  for (const { path, variable } of missing) {
    const entry = path.at(-1) === "api_key" ? valueAt(result.data, path.slice(0, -1)) : undefined;
    if (isRecord(entry)) noteUnset(entry, variable);
  }
  const config = withoutTrigger(upgraded.value)
    ? { ...result.data, summarization: { ...result.data.summarization, enabled: true } }
    : result.data;
  const warnings: Finding[] = [
    ...upgraded.warnings.map((message): Finding => ({ path: ["config_version"], message, told: "always" })),
    ...missing.map(({ path, variable }) => ({
      path,
      message: `$${variable} is not set in the environment; the key that names it counts as absent`,
    })),
    ...unknownModels(result.data, upgraded.value),
    ...silentlyOff(upgraded.value),
  ];
  return { kind: "config", config, warnings };
}

/** A string that is exactly `$NAME` or `${NAME}` takes the variable's value; an unset one counts as absent. */
function expandEnv(
  value: unknown,
  path: readonly PropertyKey[],
  sources: { readonly env: ParseOptions["env"]; readonly missing: Unset[] },
): unknown {
  if (typeof value === "string") {
    const variable = variableOf(value);
    if (variable === undefined) return value;
    if (sources.env[variable] === undefined) sources.missing.push({ path, variable });
    return sources.env[variable];
  }
  if (Array.isArray(value)) return value.map((item, index) => expandEnv(item, [...path, index], sources));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, expandEnv(item, [...path, key], sources)]),
  );
}

interface Unset {
  readonly path: readonly PropertyKey[];
  readonly variable: string;
}

function whole(message: string): Finding {
  return { path: [], message };
}

function describeIssues(issues: readonly z.core.$ZodIssue[], root: unknown): Finding[] {
  return issues.flatMap((issue): Finding[] => {
    const path = issue.path.join(".");
    const value = valueAt(root, issue.path);
    const finding = (message: string): Finding[] => [{ path: issue.path, message }];
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => ({ path: [...issue.path, key], message: unknownKey(path, key) }));
    if (issue.code === "invalid_union") {
      const branches = issue.errors.filter((branch) => branch.some((inner) => inner.path.length > 0));
      const closest = branches.find((branch) => branch.every((inner) => inner.path.length > 0)) ?? branches[0];
      if (closest !== undefined) {
        return describeIssues(
          closest.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })),
          root,
        );
      }
      const words = wordsOf(issue.errors.flat());
      if (words !== null && typeof value === "string")
        return finding(`${path} is ${clipped(JSON.stringify(value))}: expected one of ${words}`);
    }
    const valueText = isSecret(path) ? "(hidden)" : clipped(JSON.stringify(value));
    if (issue.code === "custom") return finding(`${path || "the file"}: ${issue.message}`);
    return finding(`${path || "the file"} is ${valueText ?? "missing"}: ${allowed(issue.message)}`);
  });
}

/** The words that would have been allowed; null where words are not what is asked for. */
function wordsOf(issues: readonly z.core.$ZodIssue[]): string | null {
  const choice = issues.find((issue) => issue.code === "invalid_value");
  return choice === undefined ? null : choice.values.map((value) => JSON.stringify(value)).join(" | ");
}

/** A file that is no configuration at all must not be printed whole. */
function clipped(json: string | undefined): string | undefined {
  return json !== undefined && json.length > 80 ? `${json.slice(0, 77)}...` : json;
}

/** The schema's words without its preamble, and without what the place already says. */
function allowed(message: string): string {
  const words = message.replace(/^Invalid (?:input|option): /, "").replace(/, received undefined$/, "");
  return words === "Invalid input" ? "not a form that is allowed here; see docs/configuration.md" : words;
}

function unknownKey(path: string, key: string): string {
  const keys = knownKeys(path);
  const meant = nearest(key, keys);
  const hint = meant === null ? `allowed here: ${keys.join(", ")}` : `did you mean ${meant}?`;
  return `${path === "" ? key : `${path}.${key}`} is not a key; ${hint}`;
}

function knownKeys(path: string): string[] {
  let schema: unknown = configSchema;
  for (const step of path === "" ? [] : path.split(".")) schema = memberOf(schema, step);
  const shape = shapeOf(schema);
  return shape === null ? [] : Object.keys(shape);
}

/** Follows defaults, optionals and unions down to what has members. */
export function shapeOf(schema: unknown): Record<string, unknown> | null {
  let current = schema as { def?: Record<string, unknown>; shape?: Record<string, unknown> } | undefined;
  while (current !== undefined) {
    if (current.shape !== undefined) return current.shape;
    const def = current.def;
    const options = def?.["options"] as unknown[] | undefined;
    current = (def?.["innerType"] ?? def?.["element"] ?? def?.["valueType"] ?? options?.[0]) as typeof current;
  }
  return null;
}

function memberOf(schema: unknown, step: string): unknown {
  if (/^\d+$/.test(step)) return schema;
  const shape = shapeOf(schema);
  return shape?.[step] ?? schema;
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (isRecord(value) || Array.isArray(value) ? (value as never)[key] : undefined),
    root,
  );
}

/** A name that isn't in `models` may still be meant: it falls back at first use, so it loads with a warning. */
function unknownModels(config: ConfigFile, written: unknown): Finding[] {
  const names = new Set(config.models.map((model) => model.name));
  return (["summarization", "memory"] as const).flatMap((section) => {
    const name = config[section].model_name;
    if (name === null || names.has(name)) return [];
    const modelName = JSON.stringify(valueAt(written, [section, "model_name"]));
    const message = `${section}.model_name is ${modelName}, which is not in models; the default model will stand in`;
    return [{ path: [section, "model_name"], message }];
  });
}

/** Off by a key that isn't there is seldom meant. */
function silentlyOff(written: unknown): Finding[] {
  const section = valueAt(written, ["summarization"]);
  if (!isRecord(section) || "enabled" in section || !("trigger" in section)) return [];
  const message = "summarization has a trigger but no `enabled: true`: conversations are not compacted by themselves";
  return [{ path: ["summarization"], message, told: "always" }];
}

/** A section that says neither whether nor when leaves compaction as it is without the section. */
function withoutTrigger(written: unknown): boolean {
  const section = valueAt(written, ["summarization"]);
  return isRecord(section) && !("enabled" in section) && !("trigger" in section);
}

function isSecret(path: string): boolean {
  return /api_key|password|token$|secret|url$/i.test(path);
}
