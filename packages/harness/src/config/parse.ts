/**
 * From the text of a configuration file to a checked one, or to every problem in it: where, what stands there, what is
 * allowed, what was probably meant. Pure: no file is read here and the environment is an argument.
 */
import { isRecord } from "@palimpsest/core/internal/text";
import type { z } from "zod/v4";
import { nearest } from "./nearest.ts";
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

export function parseConfig(text: string, { env, under }: ParseOptions): ParsedConfig {
  const read = readYaml(text);
  if (read.kind === "invalid") return read;
  const raw = read.value ?? {};
  const rooted = under === undefined ? raw : { [under]: raw };
  if (!isRecord(rooted)) {
    return {
      kind: "invalid",
      problems: ["the file must hold keys and values, such as `models:`; see config.example.yaml"],
    };
  }
  const upgraded = upgradeConfig(rooted);
  if (upgraded.kind === "refused") return { kind: "invalid", problems: [upgraded.problem] };
  const missing: string[] = [];
  const expanded = expandEnv(upgraded.value, env, missing);
  const result = configSchema.safeParse(expanded);
  // Shown as the file has it: what a variable holds may be a secret, whatever the key.
  if (!result.success) return { kind: "invalid", problems: describeIssues(result.error.issues, upgraded.value) };
  const warnings = [
    ...upgraded.warnings,
    ...missing.map((name) => `$${name} is not set in the environment; the key that names it counts as absent`),
    ...unknownModels(result.data, upgraded.value),
    ...silentlyOff(upgraded.value),
  ];
  return { kind: "config", config: result.data, warnings };
}

/** A string that is exactly `$NAME` or `${NAME}` takes the variable's value; an unset one counts as absent. */
function expandEnv(value: unknown, env: ParseOptions["env"], missing: string[]): unknown {
  if (typeof value === "string") {
    const variable = variableOf(value);
    if (variable === undefined) return value;
    if (env[variable] === undefined) missing.push(variable);
    return env[variable];
  }
  if (Array.isArray(value)) return value.map((item) => expandEnv(item, env, missing));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expandEnv(item, env, missing)]));
}

function describeIssues(issues: readonly z.core.$ZodIssue[], root: unknown): string[] {
  return issues.flatMap((issue): string[] => {
    const path = issue.path.join(".");
    const value = valueAt(root, issue.path);
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownKey(path, key));
    if (issue.code === "invalid_union") {
      const branches = issue.errors.filter((branch) => branch.some((inner) => inner.path.length > 0));
      const closest = branches.find((branch) => branch.every((inner) => inner.path.length > 0)) ?? branches[0];
      if (closest !== undefined) {
        return describeIssues(
          closest.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })),
          root,
        );
      }
    }
    const shown = isSecret(path) ? "(hidden)" : clipped(JSON.stringify(value));
    if (issue.code === "custom") return [`${path || "the file"}: ${issue.message}`];
    return [`${path || "the file"} is ${shown ?? "missing"}: ${allowed(issue.message)}`];
  });
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
  const known = knownKeys(path);
  const meant = nearest(key, known);
  const hint = meant === null ? `allowed here: ${known.join(", ")}` : `did you mean ${meant}?`;
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
function unknownModels(config: ConfigFile, written: unknown): string[] {
  const names = new Set(config.models.map((model) => model.name));
  return (["summarization", "memory"] as const).flatMap((section) => {
    const name = config[section].model_name;
    if (name === null || names.has(name)) return [];
    const shown = JSON.stringify(valueAt(written, [section, "model_name"]));
    return [`${section}.model_name is ${shown}, which is not in models; the default model will stand in`];
  });
}

/** Off by a key that isn't there is seldom meant. */
function silentlyOff(written: unknown): string[] {
  const section = valueAt(written, ["summarization"]);
  if (!isRecord(section) || "enabled" in section) return [];
  return ["summarization has no `enabled: true`: conversations are not compacted by themselves"];
}

function isSecret(path: string): boolean {
  return /api_key|password|token$|secret|url$/i.test(path);
}
