/**
 * Reads a configuration file: loads it once at start, upgrades old versions, checks it against the schema, and describes
 * every problem with its place, the value and what is allowed. Without a file, or with an empty one, the defaults hold.
 */

import type { Window } from "@palimpsest/core/internal/compaction";
import { isRecord } from "@palimpsest/core/internal/text";
import { answerReserve, type LearnedLimits } from "@palimpsest/core/internal/tokens";
import type { z } from "zod/v4";
import type { Quota } from "../features/workspace/workspace.ts";
import { readYaml } from "../home-folders.ts";
import { windowNow } from "../models/facts.ts";
import { noteUnset } from "../models/resolve.ts";
import { nearest } from "../nearest.ts";
import {
  type ChosenConfig,
  chooseConfig,
  HomeError,
  type HomeOwner,
  isFile,
  personHere,
  readConfig,
  smallText,
  variableOf,
} from "./find.ts";
import { CONFIG_VERSION, type ConfigFile, configSchema } from "./schema.ts";
import { type Admission, admitConfig, refusalOf } from "./trust.ts";

export interface ReadSettingsOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onWarning?: WarningListener | undefined;
  readonly home: string;
  readonly person: HomeOwner;
  /** Throws where it may not be used. */
  readonly admit: (admission: Admission) => Promise<unknown>;
}

/** `always`: a person should see it at every start; `verbose`: where they ask for more. */
export type WarningListener = (text: string, told: "always" | "verbose") => void;

export async function readSettings(chosen: ChosenConfig | null, options: ReadSettingsOptions): Promise<ConfigFile> {
  if (chosen === null) return configSchema.parse({});
  const { home, person, env, admit, onWarning } = options;
  const text = readConfig(chosen);
  if (typeof text !== "string") throw unusable(chosen.path, [text.problem]);
  await admit(admitConfig(chosen, { text, home, person }));
  const parsed = inspectConfig(text, { env });
  if (parsed.kind === "invalid")
    throw unusable(
      chosen.path,
      parsed.problems.map(({ message }) => message),
    );
  for (const { message, told } of parsed.warnings) onWarning?.(`${chosen.path}: ${message}`, told ?? "verbose");
  return parsed.config;
}

function unusable(path: string, [first, ...others]: readonly string[]): HomeError {
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const advice = `Nothing was done: "palimpsest config check" shows all there is to repair`;
  return new HomeError("config", `${path}: ${first}${more}. ${advice}.`);
}

export interface LoadConfigOptions {
  readonly home: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** An exact file instead of the search. */
  readonly file?: string;
}

export type LoadedConfig = ParsedConfig & { readonly path: string | null };

export function loadConfig({ home, cwd, env, file }: LoadConfigOptions): LoadedConfig {
  const recognized = (path: string): boolean => isOurs(smallText(path));
  const chosen = chooseConfig({ option: file ?? null, env, home, cwd }, { exists: isFile, isOurs: recognized });
  if (chosen === null) return { ...parseConfig("", { env }), path: null };
  const { path } = chosen;
  const text = readConfig(chosen);
  if (typeof text !== "string") return { kind: "invalid", problems: [text.problem], path };
  const admission = admitConfig(chosen, { text, home, person: personHere(env) });
  if (admission.verdict !== "use") return { kind: "invalid", problems: [refusalOf(admission)], path };
  return { ...parseConfig(text, { env }), path };
}

/* Parsing. Pure: no file is read here and the environment is an argument. */

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
  const messagesOf = (findings: readonly SettingFinding[]) => findings.map(({ message }) => message);
  return inspected.kind === "invalid"
    ? { kind: "invalid", problems: messagesOf(inspected.problems) }
    : { ...inspected, warnings: messagesOf(inspected.warnings) };
}

/** Something about a file, and the key it is about; an empty path is the file itself. */
export interface SettingFinding {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** `always`: at every start; otherwise only where warnings are asked for. */
  readonly told?: "always";
}

export type InspectedConfig =
  | { readonly kind: "config"; readonly config: ConfigFile; readonly warnings: readonly SettingFinding[] }
  | { readonly kind: "invalid"; readonly problems: readonly SettingFinding[] };

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
  const warnings: SettingFinding[] = [
    ...upgraded.warnings.map((message): SettingFinding => ({ path: ["config_version"], message, told: "always" })),
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

function whole(message: string): SettingFinding {
  return { path: [], message };
}

function describeIssues(issues: readonly z.core.$ZodIssue[], root: unknown): SettingFinding[] {
  return issues.flatMap((issue): SettingFinding[] => {
    const path = issue.path.join(".");
    const value = valueAt(root, issue.path);
    const finding = (message: string): SettingFinding[] => [{ path: issue.path, message }];
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
function unknownModels(config: ConfigFile, written: unknown): SettingFinding[] {
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
function silentlyOff(written: unknown): SettingFinding[] {
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

/* The version of the file. Values of version 0, from before versions, are read as they are; a newer one is refused rather than guessed. */

export type Upgraded =
  | { readonly kind: "current"; readonly value: Record<string, unknown>; readonly warnings: readonly string[] }
  | { readonly kind: "refused"; readonly problem: string };

export function upgradeConfig(value: Record<string, unknown>): Upgraded {
  const stated = value["config_version"];
  const version = stated === undefined ? CONFIG_VERSION : Number(stated);
  if (!Number.isInteger(version) || version < 0) {
    return {
      kind: "refused",
      problem: `config_version is ${JSON.stringify(stated)}: it must be a whole number, now ${CONFIG_VERSION}`,
    };
  }
  if (version > CONFIG_VERSION) {
    return {
      kind: "refused",
      problem: `config_version is ${version}, newer than the ${CONFIG_VERSION} this palimpsest knows: upgrade palimpsest, or use a file of version ${CONFIG_VERSION}`,
    };
  }
  const warnings =
    version < CONFIG_VERSION
      ? [`config_version ${version} was read as ${CONFIG_VERSION}; \`palimpsest config upgrade\` rewrites the file`]
      : [];
  return { kind: "current", value: { ...value, config_version: CONFIG_VERSION }, warnings };
}

/*
 * Recognizing a `config.yaml` that was found in the working directory. The name is common: the file of another program must
 * be neither used nor reported.
 */

/** It states `config_version`, or more of its sections are ours than not. Of a broken file only the keys are looked at. */
export function isOurs(text: string): boolean {
  const read = readYaml(text);
  const root = read.kind === "value" ? read.value : undefined;
  if (read.kind === "value" && !isRecord(root)) return false;
  const entries: [string, unknown][] = isRecord(root) ? Object.entries(root) : brokenKeys(text);
  if (entries.some(([key, value]) => key === "config_version" && Number.isInteger(Number(value ?? 0)))) return true;
  const ours = entries.filter(([key, value]) => isSection(key, value)).length;
  const strange = entries.filter(([key]) => !KNOWN.includes(key) && nearest(key, KNOWN) === null).length;
  const mistaken = entries.filter(([key, value]) => KNOWN.includes(key) && value !== undefined && !fits(key, value));
  return ours > 0 && ours > strange && mistaken.length === 0;
}

const shapes = configSchema.shape as Readonly<Record<string, unknown>>;
const KNOWN = Object.keys(shapes);

/** A section with a key of ours in it; one word such as `log_level: info` is anybody's. */
function isSection(key: string, value: unknown): boolean {
  if (value === undefined) return membersOf(shapes[key]) !== null;
  const members = membersOf(shapes[key]);
  if (members === null) return false;
  const inner = Array.isArray(value) ? value[0] : value;
  return isRecord(inner) && Object.keys(inner).some((name) => members.includes(name));
}

/** As far as list and mapping go; what is wrong inside is for the check of the file. */
function fits(key: string, value: unknown): boolean {
  const members = membersOf(shapes[key]);
  if (members === null || value === null) return true;
  return Array.isArray(value) ? key === "models" : isRecord(value);
}

function membersOf(schema: unknown): readonly string[] | null {
  const shape = shapeOf(schema);
  return shape === null ? null : Object.keys(shape);
}

function brokenKeys(text: string): [string, undefined][] {
  return Array.from(text.matchAll(/^([A-Za-z_]\w*):/gm), ([, key = ""]) => [key, undefined]);
}

/* Limits a configuration sets for a thread: its window and the size of its files. */

export interface RequestWindow extends Window {
  readonly source: "given" | "config" | "table" | "fallback" | "learned";
}

/** With what providers have stated, all places agree with what a run would do. */
export function requestWindow(
  config: ConfigFile,
  given?: number,
  learned: { readonly limits: LearnedLimits; readonly now: number } = { limits: {}, now: 0 },
): RequestWindow {
  if (given !== undefined) return { size: given, reserve: answerReserve(given, null), source: "given" };
  const model = config.models[0] ?? { provider: "offline", model: "offline" };
  const { tokens, source } = windowNow(model, config.summarization.fallback_context_window, learned);
  // An answer may not take the whole window, whatever the model could write.
  const reserve = Math.min(answerReserve(tokens, config.models[0]?.max_output_tokens ?? null), Math.floor(tokens / 2));
  return { size: tokens, reserve, source };
}

/** Null if commands run on the host, where no limit can be enforced. */
export function workspaceQuota({ limits, workspace }: Pick<ConfigFile, "limits" | "workspace">): Quota | null {
  if (workspace.host_bash) return null;
  return { bytes: Math.floor(limits.workspace_megabytes * (1 << 20)), entries: limits.workspace_files };
}
