/** What the commands that talk with the agent share. */

import { existsSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { addAbortSignal } from "node:stream";
import { liftedIn, liftRules, type Rule } from "@palimpsest/core/internal/log";
import { liftSentences, standingSentences } from "@palimpsest/core/internal/recall";
import type { RunEnd } from "palimpsest";
import { admitWorkspace, type Home } from "palimpsest/internal/home";
import { offeredModels } from "palimpsest/internal/models";
import { rules } from "palimpsest/internal/shaping";
import type { CompactionEvent } from "palimpsest/messages";
import { everyThread, type Store } from "palimpsest/stores";
import type { Context } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { ask, canAsk, isYes, money } from "../terminal/output.ts";
import { requireThreadId } from "./home.ts";

export interface TalkOptions {
  readonly thread?: string;
  readonly continue?: boolean;
  readonly workspace?: string;
  readonly agent?: string;
  readonly model?: string;
  /** In tokens. */
  readonly window?: number;
  /** In seconds. */
  readonly wait?: number;
}

/** A name that was given must be meant: another model's answer would be a wrong one, or another's bill. */
export async function requireModel({ located }: Context, name: string | null): Promise<void> {
  if (name === null) return;
  const { models } = await located.settings();
  const known = models.length === 0 ? ["offline"] : models.map((model) => model.name);
  if (known.includes(name)) return;
  const next = models.length === 0 ? `; none is configured: ${wayToOne(name)}` : "";
  throw new UsageError(`There is no model "${name}" under models: (there: ${known.join(", ")})${next}.`, {
    word: name,
    known,
  });
}

/** With a key in the environment, the command that makes a model of the name. */
function wayToOne(name: string): string {
  const [offer] = offeredModels(process.env);
  if (offer === undefined || offer.baseUrl !== null) return '"palimpsest config init" does it';
  return `$${offer.variable} is set, so "palimpsest config init --provider ${offer.provider} --model ${name}" does it`;
}

/** The thread that was named, or the newest with `--continue`; undefined: a new one. */
export async function chosenThread(options: TalkOptions, store: Store): Promise<string | undefined> {
  if (options.continue !== true) return options.thread;
  for await (const { header } of everyThread(store, { kind: "main", order: "recent" }))
    if (options.agent === undefined || header.agent === options.agent) return header.id;
  const of = options.agent === undefined ? "" : ` of the agent ${JSON.stringify(options.agent)}`;
  throw new Failure("missing", `There is no thread${of} to go on with yet.`);
}

export function checkTalk({ thread, continue: newest }: TalkOptions): void {
  if (thread !== undefined && newest === true) throw new UsageError("--thread and --continue can't be combined.");
  if (thread !== undefined) requireThreadId(thread);
}

/** The directory the agent may work in; null: the thread's own. The person is asked once about each directory. */
export async function chosenWorkspace({ workspace }: TalkOptions, context: Context): Promise<string | null> {
  if (workspace === undefined) return null;
  if (workspace === "") throw new UsageError("--workspace is empty: name a directory.");
  const { located, output, format, signal } = context;
  const admission = admitWorkspace(resolve(workspace), { home: context.home, person: located.person });
  const { directory } = admission;
  switch (admission.kind) {
    case "use":
      return directory;
    case "missing":
      throw new Failure("missing", `There is no directory ${directory}: name one that exists with --workspace.`);
    case "other-user":
      throw new Failure("untrusted", `${directory} belongs to another user of this machine: it is not used.`);
    case "holds-home":
      throw new Failure(
        "untrusted",
        `${directory} holds the home ${context.home}, and the agent could change its own memory there: choose another directory, or another --home.`,
      );
    case "ask": {
      if (canAsk(format)) {
        await output.line(`The agent would read, change and delete files in ${directory} and below it, nowhere else.`);
        if (isYes(await ask("Allow it, now and later? [y/N] ", signal))) {
          admission.trust();
          return directory;
        }
      }
      const next = `"palimpsest trust --workspace ${directory}" allows it`;
      throw new Failure("untrusted", `You haven't said that agents may work in ${directory}: ${next}.`);
    }
  }
}

/** PROMPT, what comes through a pipe, or with "-" behind it both. */
export async function promptOf([given, rest]: readonly string[], { signal }: Pick<Context, "signal">): Promise<string> {
  if (rest !== undefined && rest !== "-")
    throw new UsageError(`"${rest}" is one argument too many; put words that belong together in quotes.`);
  const isPiped = given === "-" || rest === "-" || (given === undefined && process.stdin.isTTY !== true);
  const argument = given === "-" ? "" : (given ?? "");
  const prompt = [argument, ...(isPiped ? [(await readStdin(signal)).toString("utf8")] : [])]
    .filter((text) => text.trim() !== "")
    .join("\n\n");
  if (prompt === "") throw new UsageError("PROMPT is empty: say what the agent should do, or pipe it in.");
  return prompt;
}

/* Everything that comes through the pipe. */

export async function readStdin(signal: AbortSignal): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of addAbortSignal(signal, process.stdin)) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

/* What a person sees while a compaction works. */

/** What takes long is the summarizer's work; without a model there is hardly time to read it. */
export function compactionProgress({ output, verbose }: Context): (event: CompactionEvent) => void {
  return (event) => {
    if (verbose || (!process.stderr.isTTY && event.type !== "summary-progress")) return;
    if (event.type === "compaction-check") output.progress(`${event.tokens.toLocaleString("en-US")} tokens ...`);
    if (event.type === "compaction-start")
      output.progress(`summarizing ${event.hide} ${event.hide === 1 ? "message" : "messages"} ...`);
    if (event.type === "summary-progress") output.progress(`summarized ${event.done} of ${event.of}`);
  };
}

/* Asking a person about a tool call: what they are shown of it, what their answer means, and what is said when no person is there to answer. */

export type CallVerdict = "yes" | "no" | "always";

/** Null: this is no answer to it. */
export function verdictOf(line: string): CallVerdict | null {
  const word = line.trim().toLowerCase();
  return VERDICTS.find((one) => word === one || word === one[0]) ?? null;
}

const VERDICTS = ["yes", "no", "always"] as const;

interface AskedCall {
  readonly name: string;
  readonly input: unknown;
  /** Why it is asked, where the agent says so. */
  readonly reason?: string | null;
}

/**
 * The call with all of its arguments: a person should see all that they allow. Of a long one the beginning and the end
 * are shown, and how much is left out: the end must not hide behind what fills the screen.
 */
export function askedText({ name, input, reason = null }: AskedCall): string {
  const fields = typeof input === "object" && input !== null ? Object.entries(input) : [];
  const shown = fields.slice(0, MOST_ARGUMENTS);
  const lines = shown.flatMap(([key, value]) => argumentLines(key, value));
  const more = fields.length - shown.length;
  return [
    `The agent wants to run ${cut(name, MOST_NAME)}${reason === null ? "" : ` (${reason})`}:`,
    ...lines,
    ...(more > 0 ? [`  ... (${more} more arguments not shown)`] : []),
  ].join("\n");
}

function argumentLines(key: string, value: unknown): readonly string[] {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const lines = `${cut(key, MOST_NAME)}: ${text}`.split("\n");
  const left = lines.length - HEAD.lines - TAIL.lines;
  const ends =
    left <= 0
      ? lines
      : [
          ...lines.slice(0, HEAD.lines),
          `... (${left} ${left === 1 ? "line" : "lines"} not shown)`,
          ...lines.slice(-TAIL.lines),
        ];
  return bothEnds(ends.join("\n"))
    .split("\n")
    .map((line, index) => (index === 0 ? `  ${line}` : `    ${line}`));
}

function bothEnds(text: string): string {
  const left = text.length - HEAD.chars - TAIL.chars;
  if (left <= 0) return text;
  return `${text.slice(0, HEAD.chars)}\n... (${left.toLocaleString("en-US")} characters not shown)\n${text.slice(-TAIL.chars)}`;
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}...`;
}

const HEAD = { lines: 60, chars: 2000 };
const TAIL = { lines: 20, chars: 1000 };
const MOST_ARGUMENTS = 30;
const MOST_NAME = 200;

/** What an end means that isn't an answer and isn't a failure; null where there is nothing to say. */
export function unfinishedNote(end: RunEnd, next: { readonly decide: string; readonly goOn: string }): string | null {
  switch (end.kind) {
    case "approval": {
      const names = [...new Set(end.calls.map(({ name }) => name))].join(" and ");
      return `Not run: ${names}. It needs your approval, which can't be asked for without a terminal; to decide: ${next.decide}`;
    }
    case "budget": {
      const spent = end.cost === null ? "" : ` (${money(end.cost)})`;
      return `Stopped after ${end.tokens.toLocaleString("en-US")} tokens${spent}: the next call would go beyond limits.run_tokens or limits.run_cost of the configuration; ${next.goOn}.`;
    }
    case "step-limit":
      return `Stopped after ${end.limit} steps without an answer: ${next.goOn}.`;
    default:
      return null;
  }
}

/* How this program is called where the person stands: a line to copy must work there. */

export function programName(env: Readonly<Record<string, string | undefined>> = process.env): string {
  // npm puts a project's own programs on the path of what it runs; the person's shell doesn't know them.
  const folders = (env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "" && !folder.endsWith(OF_PROJECT));
  return folders.some((folder) => existsSync(join(folder, "palimpsest"))) ? "palimpsest" : "npx palimpsest";
}

const OF_PROJECT = join("node_modules", ".bin");

interface RuleNewsOptions {
  readonly thread: string;
  readonly text: string;
  readonly signal: AbortSignal;
  /** What a person types to end or restore a rule. */
  readonly command: (act: "end" | "restore", id: string) => string;
}

/** What a message that was said did to the thread's standing rules, in a line for each: which began or ended, and which stays although it was lifted. */
export async function ruleNews(
  home: Home,
  { thread, text, signal, command }: RuleNewsOptions,
): Promise<readonly string[]> {
  const lifts = liftSentences(text);
  if (lifts.length === 0 && standingSentences(text).length === 0) return [];
  const source = await lastSaid(home.store, thread);
  if (source === null) return [];
  const { rules: list } = await rules.run(home, { thread }, { signal });
  const own = list.filter((rule) => rule.source === source && rule.by === "recognized");
  const ended = list.filter((rule) => rule.ended === liftedIn(source));
  const liftsAt = new Date().toISOString();
  const kept = lifts.flatMap((one) =>
    ended.length > 0 ? [] : liftRules({ next: 1, list }, { text: one, source, liftsAt }).kept,
  );
  return [
    ...own.flatMap(({ id, text: words, status }) => {
      if (status === "active") return [`rule ${id} began: ${words}`];
      return status === "ended" ? [] : [`rule ${id} waits, since too many are in force: ${words}`];
    }),
    ...list
      .filter((rule) => own.some(({ id }) => id === rule.ended))
      .map((rule) => `rule ${rule.id} ended, ${rule.ended} takes its place: ${rule.text}`),
    ...ended.map(({ id, text: words }) => `rule ${id} ended: ${words} (${command("restore", id)} brings it back)`),
    ...new Set(kept.map((rule) => keptText(rule, command("end", rule.id)))),
  ];
}

function keptText({ id, text, scope }: Rule, end: string): string {
  if (scope !== "thread") return `rule ${id} stays, since it is a rule of the ${scope}: ${text} (change it there)`;
  return `rule ${id} stays, since it was set by hand: ${text} (${end} ends it)`;
}

async function lastSaid(store: Store, threadId: string): Promise<number | null> {
  for await (const { record } of store.records(threadId, { kinds: ["message"], order: "descending" }))
    if (record.kind === "message" && record.origin === "user") return record.seq;
  return null;
}
