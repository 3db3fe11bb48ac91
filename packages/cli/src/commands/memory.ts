/** The commands under `memory`: what is remembered, looked at and corrected. */

import { readFileSync } from "node:fs";
import type { Fact, MemoryDocument, SectionPath } from "@palimpsest/core/internal/memory";
import { SECTION_PATHS, sectionText } from "@palimpsest/core/internal/memory";
import { errorCode } from "@palimpsest/core/internal/text";
import * as memory from "palimpsest/internal/memory-operations";
import type { ResultOf } from "palimpsest/internal/operation";
import type { JobStatus } from "palimpsest/stores";
import type { CommandRun, Input, Printing } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { type Acts, acting, leftNotes, performing, print, withHome } from "../home/home.ts";
import { printable } from "../terminal/output.ts";
import { table } from "../terminal/table.ts";

export interface MemoryCommandOptions {
  readonly agent?: string;
}

export interface FactOptions extends MemoryCommandOptions {
  readonly category?: string;
  readonly confidence?: string;
}

const scope = ({ options: { agent } }: Input<MemoryCommandOptions>) => ({ agent });

export const showing = performing(memory.show, {
  input: scope,
  async show(document: MemoryDocument, { output }) {
    // By the name that `memory edit` takes.
    const lines = SECTION_PATHS.flatMap((path) => {
      const text = sectionText(document, path);
      return text === "" ? [] : [`${path}: ${printable(text)}`];
    });
    const facts = document.facts.map(({ id, content, category, confidence, validTo }) => {
      const ended = validTo === undefined ? "" : `, until ${validTo.slice(0, 10)}`;
      return `${id}  ${printable(content)} (${printable(category)}, ${confidence.toFixed(2)}${ended})`;
    });
    if (lines.length + facts.length === 0) output.note("Nothing is remembered yet.");
    for (const line of [...lines, ...facts]) await output.line(line);
  },
});

export const searching = performing(memory.facts, {
  input({ positionals: [q], options: { agent, limit } }: Input<MemoryCommandOptions & { readonly limit?: number }>) {
    return { agent, q, limit };
  },
  async show({ facts }, { output }) {
    if (facts.length === 0) output.note("Nothing found.");
    for (const { id, content } of facts) await output.line(`${id}  ${printable(content)}`);
  },
});

/** What to do about a fact that is refused. */
const FACT_HINTS = { empty: "say what is to be remembered", "too-long": "say it shorter, or as several facts" };

export const adding = performing(memory.add, {
  input: (given: Input<FactOptions>) => ({
    ...scope(given),
    content: given.positionals[0]!,
    ...factOptions(given),
  }),
  hints: FACT_HINTS,
  show: ({ kind, fact: { id, content } }) =>
    kind === "known" ? `Known already as ${id}.` : `Remembered as ${id}: ${printable(content)}`,
});

function factOptions({ options: { category, confidence } }: Input<FactOptions>) {
  if (confidence !== undefined && (!/^(?:0|1|0?\.\d+|[01]\.\d+)$/.test(confidence) || Number(confidence) > 1))
    throw new UsageError(`--confidence must be a number from 0 to 1, not ${JSON.stringify(confidence)}.`);
  return { category, confidence: confidence === undefined ? undefined : Number(confidence) };
}

export const editing = acting<FactOptions>(
  async (given, acts) => {
    const [target = "", content] = given.positionals;
    const { agent } = given.options;
    const section = sectionNamed(target);
    if (section !== null) {
      if (content === undefined) throw new UsageError(`TEXT is missing. Usage: palimpsest memory edit ${target} TEXT`);
      await acts.call(memory.rewrite, { agent, sections: { [section]: content } });
      await print(acts, { kind: "edited", section }, () => `Rewrote ${section}.`);
      return 0;
    }
    const change = { content, ...factOptions(given) };
    if (Object.values(change).every((one) => one === undefined))
      throw new UsageError("Nothing to change: give a new TEXT, --category or --confidence.");
    const { facts } = await acts.call(memory.facts, { agent });
    const ids = facts.map(({ id }) => id);
    const document = await acts.call(memory.edit, { agent, fact: idNamed(ids, target), ...change });
    await print(acts, document, () => `Changed ${document.fact.id}: ${printable(document.fact.content)}`);
    return 0;
  },
  { hints: FACT_HINTS },
);

/** Null: it is no section. */
function sectionNamed(target: string): SectionPath | null {
  const section = SECTION_PATHS.find((path) => path === target) ?? null;
  if (section === null && /^(?:userContext|history)\b/.test(target))
    throw new UsageError(`There is no section "${target}": there are ${SECTION_PATHS.join(", ")}.`);
  return section;
}

/** Ids are long: a beginning will do, from four characters on, where only one fact has it. */
function idNamed(known: readonly string[], name: string): string {
  const ids = [...new Set(known)];
  if (ids.includes(name)) return name;
  const matches = name.length < 4 ? [] : ids.filter((id) => id.startsWith(name));
  if (matches.length === 1) return matches[0]!;
  if (matches.length > 1)
    throw new Failure("ambiguous", `${matches.length} facts begin with "${name}": give more of the id.`);
  throw new Failure("unknown-fact", `There is no fact "${name}": "palimpsest memory show" lists them.`);
}

interface ForgetOptions extends MemoryCommandOptions {
  readonly redact?: boolean;
}

export const forgetting = acting<ForgetOptions>(async ({ positionals, options: { agent, redact = false } }, acts) => {
  const { facts } = await acts.call(memory.facts, { agent });
  const known = [...facts.map(({ id }) => id), ...(redact ? await forgottenBefore(acts, agent) : [])];
  const [fact, ...also] = positionals.map((name) => idNamed(known, name));
  const document = await acts.call(memory.forget, { agent, fact: fact!, also, redact });
  for (const note of leftNotes(document.left)) acts.output.note(note);
  await print(acts, document, () => showForgotten(document, acts, { ids: [fact!, ...also], facts }));
  return document.busy.length === 0 ? 0 : 1;
});

/** Their words can still be erased. */
async function forgottenBefore(acts: Acts, agentName: string | undefined): Promise<readonly string[]> {
  const changes = (await acts.call(memory.history, { agent: agentName })).changes;
  return changes.filter(({ kind }) => kind === "forget").map(({ target }) => target);
}

async function showForgotten(
  document: ResultOf<typeof memory.forget>,
  { output }: Printing,
  { ids, facts }: { readonly ids: readonly string[]; readonly facts: readonly Pick<Fact, "id" | "content">[] },
): Promise<void> {
  const { forgotten, fenced, evidence, redacted, alsoForgotten, busy } = document;
  const contents = new Map(facts.map(({ id, content }) => [id, content]));
  for (const id of ids.filter((one) => !forgotten.includes(one)))
    await output.line(`Forgotten before, and erased now: ${id}.`);
  for (const id of forgotten) await output.line(`Forgot ${id}: ${printable(contents.get(id) ?? "")}`);
  if (fenced.length > 0) await output.line(`Nothing is learned again from ${fenced.join(", ")}.`);
  if (evidence.length > 0) await output.line(`No longer in the prompt of ${evidence.join(", ")}.`);
  if (redacted.length > 0) await output.line(`Erased ${redacted.join(", ")}.`);
  for (const id of alsoForgotten)
    await output.line(`Forgot ${id} too, which was learned from what is erased: ${printable(contents.get(id) ?? "")}`);
  for (const threadId of busy)
    output.note(`Thread "${threadId}" is in use and still shows it: forget again when it has ended.`);
}

export const listing = performing(memory.history, {
  input: scope,
  async show(document, { output }) {
    const changes = document.changes;
    if (changes.length === 0) output.note("Nothing was changed yet.");
    const rows = changes.map(({ id, at, by, kind, sources, before, after, target }) => {
      const words = after ?? before ?? target;
      const text = typeof words === "string" ? words : words.content;
      return [id, at, by, kind, sources.join(" ") || "-", printable(text).slice(0, 80)];
    });
    if (rows.length > 0) await output.line(table(["CHANGE", "AT", "BY", "WHAT", "SOURCES", "TEXT"], rows));
  },
});

export const undoing = performing(memory.undo, {
  input: ({ positionals: [change], options: { agent } }: Input<MemoryCommandOptions>) => ({ agent, change }),
  hints: { "unknown-change": '"palimpsest memory history" lists them' },
  show: ({ undone }) => `Took back ${undone.join(", ")}.`,
});

export const exporting = performing(memory.exportMemory, {
  input: scope,
  show: (document, { output }) => output.json(document),
});

export const importing = acting<MemoryCommandOptions>(async ({ positionals, options: { agent } }, acts) => {
  const path = positionals[0]!;
  const given = { agent, document: readDocument(path) };
  const document = await acts.call(memory.importMemory, given).catch((error: unknown) => {
    throw Failure.isInstance(error) && error.code === "unreadable"
      ? new Failure(error.code, `${path}: ${error.message}`)
      : error;
  });
  const { imported, known, sections } = document;
  await print(acts, document, () => `Imported ${imported} facts and ${sections} sections; ${known} were known.`);
  return 0;
});

function readDocument(path: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new Failure("unreadable", `Can't read ${path} (${errorCode(error)}): give the path of a file.`);
  }
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new Failure("unreadable", `${path} is not JSON. Nothing was imported.`);
  }
}

/** Long enough for many model calls; what is left then stays queued. */
const RETRY_MS = 10 * 60_000;

export const retrying: { readonly run: CommandRun } = {
  async run(_input, context) {
    const { output, signal, verbose } = context;
    const report = (await context.located.hasStore())
      ? await withHome(context, async (home) => {
          const assistant = await home.agent({ log: output.note, verbose });
          if (assistant.memory === null)
            throw new Failure("off", "Memory is turned off in the configuration (memory.enabled).");
          const { queue } = assistant.memory;
          try {
            const retried = await Promise.race([queue.retry(RETRY_MS), aborted(signal)]);
            const left = (retried.kind === "left" ? retried.jobs : []).map(jobRow);
            const learned = retried.threads.filter((threadId) => !left.some((job) => job.thread === threadId));
            return { revived: retried.revived, learned, left };
          } finally {
            await queue.stop();
          }
        })
      : { revived: 0, learned: [], left: [] };
    const { revived, learned, left } = report;
    await print(context, report, async () => {
      if (learned.length + left.length === 0) await output.line("Nothing was waiting to be learned.");
      const note = revived === 0 ? "" : ` ${revived} had been given up.`;
      if (learned.length > 0) await output.line(`Read ${learned.join(", ")}.${note}`);
      for (const { thread, state, error } of left)
        output.note(
          `${thread} is ${state === "dead" ? "given up" : "still queued"}: ${error ?? "it was not done in time"}`,
        );
    });
    return left.length === 0 ? 0 : 1;
  },
};

function jobRow({ queue: _, key: agent, payload: _payload, userId: user, threadId: thread, ...rest }: JobStatus) {
  return { user, thread, ...rest, agent };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
