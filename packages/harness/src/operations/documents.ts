/** What a run and an import have come to, as JSON: the acts that are no operation because they work for long and report meanwhile. */
import type { RunResult } from "../agent/events.ts";
import type { ChargedUse, ThreadCost } from "../home/cost.ts";
import type { Problem } from "../import/conversation.ts";
import type { ImportOutcome } from "../import/import-file.ts";
import type { FileOutcome, FolderOutcome } from "../import/import-folder.ts";
import { costOf, type ModelsConfig, pricesOf, type Usage } from "../models/facts.ts";

interface RunDocumentOptions {
  readonly config: ModelsConfig;
  /** As the run named it; null: the default one. */
  readonly model: string | null;
  /** With what was spent beside the run's own calls; without it those alone are counted. */
  readonly cost?: RunCost | null;
}

type RunCost = {
  readonly spent: number;
  readonly savedByCache: number;
  readonly spentOn?: Readonly<Record<ChargedUse, number>>;
  /** Null: as configured. */
  readonly currency: "USD";
};

/** What a thread has cost more than before: its run with sub-agents, summaries and what was learned meanwhile. */
export function costSince(before: ThreadCost | null, after: ThreadCost | null): RunCost | null {
  if (after === null) return null;
  const { spent, spentOn, savedByCache, currency } = after;
  const more = ([use, part]: [string, number]) => [use, part - (before?.spentOn[use as ChargedUse] ?? 0)];
  return {
    spent: spent - (before?.spent ?? 0),
    savedByCache: savedByCache - (before?.savedByCache ?? 0),
    spentOn: Object.fromEntries(Object.entries(spentOn).map(more)) as ThreadCost["spentOn"],
    currency,
  };
}

export function runDocument(
  { threadId: thread, end, text, usage, steps }: RunResult,
  { config, model, cost = ownCost(usage, config, model) }: RunDocumentOptions,
) {
  return {
    thread,
    text,
    usage,
    steps,
    end: end.kind,
    ...(end.kind === "asked" && { question: end.question, options: end.options }),
    ...((end.kind === "approval" || end.kind === "client-calls") && { calls: end.calls }),
    ...(end.kind === "approval" && { clientCalls: end.clientCalls }),
    ...(end.kind === "budget" && { spent: { tokens: end.tokens, cost: end.cost } }),
    ...(end.kind === "step-limit" && { limit: end.limit }),
    ...(cost !== null && { cost }),
  };
}

function ownCost(usage: Usage, { models }: ModelsConfig, model: string | null): RunCost | null {
  const entry = model === null ? models[0] : models.find(({ name }) => name === model);
  const prices = entry === undefined ? null : pricesOf(entry);
  return prices === null ? null : { ...costOf(usage, prices), currency: "USD" };
}

export function importDocument(threadId: string, outcome: Extract<ImportOutcome, { readonly kind: "imported" }>) {
  const { kind: _, ...told } = outcome;
  return { thread: threadId, ...told };
}

/** Of an archive or a folder: as of one file, and what became of each. */
export function folderDocument(threadId: string, { files }: FolderOutcome) {
  const done = files.flatMap(({ file, outcome }) => (outcome.kind === "imported" ? [{ file, ...outcome }] : []));
  const formats = new Set(done.map(({ format }) => format));
  const placed = (file: string, problems: readonly Problem[]): readonly Problem[] =>
    problems.map(({ place, message }) => ({ place: place === "" ? file : `${file}, ${place}`, message }));
  return {
    thread: threadId,
    imported: done.reduce((sum, { imported }) => sum + imported, 0),
    skipped: done.reduce((sum, { skipped }) => sum + skipped, 0),
    dialect: done[0]?.dialect ?? "",
    format: formats.size === 1 ? done[0]!.format : null,
    threads: done.flatMap(({ threads }) => threads),
    invalid: done.flatMap(({ file, invalid }) => placed(file, invalid)),
    warnings: done.flatMap(({ file, warnings }) => placed(file, warnings)),
    files: files.map(fileDocument),
  };
}

function fileDocument({ file, outcome }: FileOutcome) {
  const imported = outcome.kind === "imported" ? outcome.imported : 0;
  return { file, imported, problem: problemOf(outcome) };
}

/** Null: it is imported. */
function problemOf(outcome: ImportOutcome): string | null {
  switch (outcome.kind) {
    case "imported":
      return null;
    case "exists":
      return `thread "${outcome.threadId}" exists already`;
    case "invalid": {
      const { place, message } = outcome.problems[0]!;
      return place === "" ? message : `${place}: ${message}`;
    }
    case "empty":
      return `it holds no message. ${outcome.seen}`;
    case "busy":
      return `thread "${outcome.threadId}" is being written by somebody else`;
    case "bad-thread-id":
    case "unreadable":
      return outcome.problem;
  }
}
