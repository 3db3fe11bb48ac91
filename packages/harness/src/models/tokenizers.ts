/**
 * Binds real tokenizers to core's counter type and picks the counter for a model. The tables are megabytes, so an
 * encoding is imported at its first use only. `prior` is what a model family reports per counted token before a thread
 * has learned its own factor; see docs/tokens.md. Below: the limits that providers stated, kept in a file of the home.
 */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isLowSurrogate } from "@palimpsest/core/internal/text";
import {
  type CountText,
  charsPerToken,
  endpointsWith,
  type Frame,
  type ImageRule,
  type LearnedLimits,
} from "@palimpsest/core/internal/tokens";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../home-folders.ts";
import type { SharedLimits } from "../stores/shared.ts";
import { addressOfLimits } from "./facts.ts";

export type Encoding = "o200k_base" | "cl100k_base";

export interface ModelCounter {
  readonly name: string;
  readonly count: CountText;
  /** Reported tokens per counted token, before anything was learned. */
  readonly prior: number;
  readonly imageRule: ImageRule;
  readonly frame: Frame;
}

/**
 * An exact counter, one function per encoding. Special tokens in the text are plain text, and text of any form is counted
 * in linear time.
 */
export function exactCounter(encoding: Encoding): Promise<CountText> {
  const made = counters.get(encoding) ?? load(encoding).then(counterOf);
  counters.set(encoding, made);
  return made;
}

const counters = new Map<Encoding, Promise<CountText>>();

function counterOf({ countTokens, setMergeCacheSize }: Table): CountText {
  setMergeCacheSize(MERGED_WORDS);
  const plain = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
  return (text) => {
    let total = 0;
    for (const chunk of chunks(text)) total += countTokens(chunk, plain);
    return total;
  };
}

/** The cheap counter of a model: 3.3 characters per token for Anthropic, 4 otherwise. Needs no table. */
export function counterFor(model: ModelName): ModelCounter {
  const family = familyOf(model);
  const chars = family === "anthropic" ? 3.3 : 4;
  return {
    name: `chars/${chars}`,
    count: charsPerToken(chars),
    prior: family === "anthropic" ? 1.05 : 1.15,
    imageRule: IMAGE_RULES[family],
    frame: family === "anthropic" ? ANTHROPIC_FRAME : PLAIN_FRAME,
  };
}

/**
 * The best counter known for a model: its own encoding for OpenAI. Other tokenizers aren't public or not at hand, but
 * follow o200k closely, hashes and every script included, so it serves them with the family's prior.
 */
export async function exactCounterFor(model: ModelName): Promise<ModelCounter> {
  // It reports four characters as a token, so nothing is more exact, and no table has to be read to start.
  if (model.model === "offline") return { ...counterFor(model), prior: 1 };
  const family = familyOf(model);
  const encoding = family === "openai" && OLD_OPENAI.test(model.model) ? "cl100k_base" : "o200k_base";
  return {
    name: encoding,
    count: await exactCounter(encoding),
    prior: { openai: 1, anthropic: 1.25, google: 1.1, other: 1.1 }[family],
    imageRule: IMAGE_RULES[family],
    frame: family === "anthropic" ? ANTHROPIC_FRAME : PLAIN_FRAME,
  };
}

/** What an agent counts with: a function of its caller's, all that is known about a model's counting, or the best known. */
export function modelCounter(
  counter: GivenCounter | undefined,
  model: ModelName,
): ModelCounter | Promise<ModelCounter> {
  if (counter === undefined) return exactCounterFor(model);
  // A tokenizer from the caller is meant for this model, so its counts are used as they are.
  return typeof counter === "function" ? { ...counterFor(model), name: "given", count: counter, prior: 1 } : counter;
}

export type GivenCounter = ModelCounter | CountText;

/** `provider` decides where it is known; else the model's own name. */
export interface ModelName {
  readonly provider?: string | null;
  readonly model: string;
}

type TokenizerFamily = "openai" | "anthropic" | "google" | "other";

const IMAGE_RULES: Readonly<Record<TokenizerFamily, ImageRule>> = {
  openai: "openai",
  anthropic: "anthropic",
  google: "google",
  other: "openai",
};

/** In counted tokens, measured on reported usage: a call is written as tags around every plain argument. */
const ANTHROPIC_FRAME: Frame = { message: 4, call: 24, argument: 9, result: 6, inputs: "plain" };
const PLAIN_FRAME: Frame = { message: 4, call: 8, argument: 0, result: 6, inputs: "json" };

/** Models of the encoding before o200k; `gpt-4o` and `gpt-4.1` are not among them. */
const OLD_OPENAI = /(^|\/)(gpt-3\.5|gpt-4($|-(?!o)))/;

function familyOf({ provider, model }: ModelName): TokenizerFamily {
  // A router's provider name says nothing about the tokenizer, so the model's name is asked first.
  const name = model.toLowerCase();
  if (/claude/.test(name)) return "anthropic";
  if (/(^|\/)(gpt-|chatgpt|o[134]($|-)|codex)/.test(name)) return "openai";
  if (/gemini|gemma/.test(name)) return "google";
  const from = (provider ?? "").toLowerCase();
  if (/anthropic|bedrock-claude/.test(from)) return "anthropic";
  if (/google|vertex|gemini/.test(from)) return "google";
  return "other";
}

/**
 * How many words the library remembers the tokens of. It takes a word that it meets again out of its table and puts it in
 * anew, which leaves a gap; with its default of 100,000 a text of one repeated word, `a@a@a@...`, then takes a thousand
 * times as long as another. With few of them code and prose take a tenth longer.
 */
const MERGED_WORDS = 64;

interface Table {
  setMergeCacheSize(size: number): void;
  countTokens(text: string, options: { allowedSpecial: Set<string>; disallowedSpecial: Set<string> }): number;
}

function load(encoding: Encoding): Promise<Table> {
  return encoding === "o200k_base" ? import("#tokenizer/o200k_base") : import("#tokenizer/cl100k_base");
}

/** Longer than any word a tokenizer knows; merging costs the square of the run, so this bounds it. */
const LONGEST_RUN = 256;

/**
 * The text itself, unless it holds a run of one character class longer than `LONGEST_RUN` (base64, a ruler of dashes,
 * `aaaa...`): such a run is cut. Ordinary text is never cut, so its count stays exact.
 */
function* chunks(text: string): Generator<string> {
  let start = 0;
  let run = 0;
  let last = -1;
  for (let at = 0; at < text.length; at += 1) {
    const kind = classOf(text.charCodeAt(at));
    run = kind === last ? run + 1 : 1;
    last = kind;
    if (run <= LONGEST_RUN || isLowSurrogate(text.charCodeAt(at))) continue;
    yield text.slice(start, at);
    start = at;
    run = 1;
  }
  if (start < text.length) yield start === 0 ? text : text.slice(start);
}

function classOf(code: number): number {
  if (code === 32 || (code >= 9 && code <= 13)) return 0;
  if (code >= 48 && code <= 57) return 1;
  if ((code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code >= 128) return 2;
  return 3;
}

/*
 * Where limits that providers stated outlive the process: a small file of the home. A convenience: a file that can't
 * be read or written costs one refused request a process, never a run.
 */

export interface LimitsStore {
  read(): LearnedLimits;
  /** What others have learned meanwhile, without a wait; a store that has none of it leaves it out. */
  latest?(): LearnedLimits;
  keep(limits: LearnedLimits): void;
}

/** In the home's own file. */
export function limitsOfHome(directory: string): LimitsStore {
  return limitsIn(join(directory, "learned-limits.json"));
}

export function limitsIn(path: string): LimitsStore {
  return {
    read() {
      try {
        return sound(JSON.parse(readFileSync(path, "utf8")));
      } catch {
        return {};
      }
    },
    keep(limits) {
      const temporary = `${path}.${process.pid}.tmp`;
      try {
        mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
        writeFileSync(temporary, `${JSON.stringify(limits, null, 1)}\n`, { mode: PRIVATE_FILE });
        renameSync(temporary, path);
      } catch {
        // The next process learns it again; what was begun isn't left lying about.
        void rm(temporary, { force: true }).catch(() => undefined);
      }
    },
  };
}

/** Valid entries only; people may edit the file. */
function sound(value: unknown): LearnedLimits {
  if (typeof value !== "object" || value === null) return {};
  const entries = Object.entries(value as Record<string, unknown>).filter(([, limit]) => {
    const { tokens, learnedAt } = (limit ?? {}) as { tokens?: unknown; learnedAt?: unknown };
    return Number.isSafeInteger(tokens) && Number(tokens) > 0 && Number.isFinite(learnedAt);
  });
  return Object.fromEntries(entries) as LearnedLimits;
}

// Windows that providers have stated, for every process on one store: what is in the home's file, and what others
// were told. Looked up once a minute behind the calls; a store that doesn't answer costs one refused request a
// process, never a run.

const LOOK_MS = 60_000;

/** Of a home: its file, and its store where that is shared. */
export function windowsOf(directory: string, shared: SharedLimits | undefined, clock: () => Date): LimitsStore {
  return sharedWindows(limitsOfHome(directory), shared, clock);
}

/** What was stated about a model, in the home's file and where others look; the limits that were forgotten. */
export async function forgetWindows(
  directory: string,
  shared: SharedLimits | undefined,
  model: Parameters<typeof addressOfLimits>[0],
): Promise<readonly number[]> {
  const file = limitsOfHome(directory);
  const told = await (shared?.windows() ?? []);
  const limits: LearnedLimits = {
    ...Object.fromEntries(told.map(({ endpoint, ...limit }) => [endpoint, limit])),
    ...file.read(),
  };
  const endpoints = endpointsWith(limits, addressOfLimits(model));
  const kept = Object.entries(file.read()).filter(([endpoint]) => !endpoints.includes(endpoint));
  if (endpoints.length > 0) file.keep(Object.fromEntries(kept));
  for (const endpoint of endpoints) await shared?.dropWindow(endpoint);
  return endpoints.flatMap((endpoint) => limits[endpoint]?.tokens ?? []);
}

export function sharedWindows(file: LimitsStore, shared: SharedLimits | undefined, clock: () => Date): LimitsStore {
  if (shared === undefined) return file;
  let stated: LearnedLimits = {};
  let looked = Number.NEGATIVE_INFINITY;
  const look = async (): Promise<void> => {
    const windows = await shared.windows();
    stated = Object.fromEntries(windows.map(({ endpoint, ...limit }) => [endpoint, limit]));
  };
  const latest = (): LearnedLimits => {
    const now = clock().getTime();
    if (Math.abs(now - looked) >= LOOK_MS) {
      looked = now;
      void look().catch(() => {});
    }
    return stated;
  };
  latest();
  return {
    read: () => ({ ...file.read(), ...latest() }),
    latest,
    keep(limits) {
      file.keep(limits);
      for (const [endpoint, limit] of Object.entries(limits)) {
        if (stated[endpoint]?.learnedAt === limit.learnedAt) continue;
        stated = { ...stated, [endpoint]: limit };
        void shared.putWindow({ endpoint, ...limit }).catch(() => {});
      }
    },
  };
}
