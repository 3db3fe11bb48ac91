/**
 * Writes a summary with a model: the hidden messages in chunks the summarizer can read, a patch for each, all of them
 * merged in order into the state so far. The model proposes and code disposes: what it does not mention stays, what it
 * invents is dropped. It never touches the thread, and every failure is a result that names its reason.
 */
import type { Chunk, Locate, NeutralProse, PatchPrompt, SummaryState } from "@palimpsest/core/internal/summary";
import {
  chunkMessages,
  createLocator,
  emptyState,
  extendLedger,
  mergePatch,
  neutralizeProse,
  PATCH_SCHEMA,
  patchPrompt,
  prosePrompt,
} from "@palimpsest/core/internal/summary";
import { inTurns, pause } from "../long-work.ts";
import type { SummaryCorrection } from "./events.ts";
import { SUMMARIZER_BOUNDS } from "./summarization.ts";
import type { SummaryResult, SummaryWriter } from "./summarize.ts";
import {
  askAll,
  budgetOf,
  createAsker,
  failedResult,
  isEmpty,
  type ModelWriterOptions,
  outputAfterCut,
  type Question,
  type ReadPatch,
  readPatchAnswer,
  readProseAnswer,
  roomFor,
  type SummaryCall,
  tooSmall,
  type WriterSettings,
} from "./summary-call.ts";

export type { ModelWriterOptions } from "./summary-call.ts";

const TIMEOUT_MS = 120_000;
/** Of the summarizer's prompt, what the items already known may take. */
const KNOWN_SHARE = 0.2;
const MOST_KNOWN = 4000;

export function createModelWriter(given: ModelWriterOptions): SummaryWriter {
  const options: WriterSettings = { ...SUMMARIZER_BOUNDS, ...given };
  return async (job, signal) => {
    const { summarize, drafts = job.drafts ?? null, timeoutMs = TIMEOUT_MS, sleep = pause } = options;
    const asker = createAsker({ summarize, drafts, timeoutMs, sleep });
    const call = { job, options, asker, signal, count: options.count ?? job.count, budget: budgetOf(options) };
    if (options.summaryPrompt !== null || options.style === "prose") return writeProse(call);
    return (await writeOnPrefix(call)) ?? (await writeInChunks(call));
  };
}

/** A part of the conversation, what the model was shown beside it, and what it made of it. */
interface Section {
  readonly first: number;
  readonly last: number;
  readonly knownIds: ReadonlySet<string>;
  readonly read: ReadPatch;
}

/** One call on the conversation's own cache [F10]; null when there is none, it leaves no room, or it did not work. */
async function writeOnPrefix<M>(call: SummaryCall<M>): Promise<SummaryResult | null> {
  const { job, options, count, budget, asker, signal } = call;
  const prefix = options.prefix?.() ?? null;
  const [first, last] = [job.input.entries[0]?.seq, job.input.entries.at(-1)?.seq];
  if (prefix === null || first === undefined || last === undefined) return null;
  const question = promptFor(call, null);
  if (prefix.tokens + count(question.prompt) > budget.input) return null;
  const answer = await asker.ask<ReadPatch>(
    {
      request: {
        kind: "patch",
        system: "",
        prompt: question.prompt,
        maxOutputTokens: budget.output,
        schema: null,
        prefix,
      },
      maxOutputTokens: outputAfterCut(call, question.prompt) - prefix.tokens,
      read: (given) => readPatchAnswer(given, question.prompt),
    },
    signal,
  );
  if (answer.kind === "failed") return signal.aborted ? failedResult(call, "aborted", answer.detail) : null;
  const section = { first, last, knownIds: question.knownIds, read: answer.value };
  const written = settle(call, [section], 0);
  return written.kind === "written" ? written : null;
}

async function writeInChunks<M>(call: SummaryCall<M>): Promise<SummaryResult> {
  const { job, options, count } = call;
  const bare = promptFor(call, "");
  const maxTokens = roomFor(call, bare.system + bare.prompt);
  if (tooSmall(maxTokens)) {
    const detail = `a summarizer window of ${options.window} tokens leaves ${maxTokens} for messages; use a larger one`;
    return failedResult(call, "error", detail);
  }
  const { entries } = job.input;
  const bounds = { count, maxTokens, maxCalls: options.maxSummarizerCalls };
  const chunked = await inTurns(chunkMessages(entries, job.shape, bounds));
  const { chunks, digested } = chunked;
  if (chunks.length === 0) return failedResult(call, "empty", "the hidden messages hold no text");
  const answers = await askAll(call, chunks.length, (index) => questionFor(call, chunks[index]!));
  if (answers.kind === "failed") return failedResult(call, answers.reason, answers.detail);
  const sections = chunks.map(({ first, last }, index) => ({
    first,
    last,
    knownIds: bare.knownIds,
    read: answers.value[index]!,
  }));
  return settle(call, sections, digested.length);
}

function questionFor<M>(call: SummaryCall<M>, chunk: Chunk): Question<ReadPatch> {
  const { system, prompt } = promptFor(call, chunk.text);
  const maxOutputTokens = call.budget.output;
  return {
    request: { kind: "patch", system, prompt, maxOutputTokens, schema: PATCH_SCHEMA, prefix: null },
    maxOutputTokens: outputAfterCut(call, system + prompt),
    read: (answer) => readPatchAnswer(answer, prompt),
  };
}

function promptFor<M>({ job, count, budget }: SummaryCall<M>, transcript: string | null): PatchPrompt {
  return patchPrompt({
    state: job.input.prior ?? emptyState(),
    transcript,
    count,
    maxKnownTokens: Math.min(MOST_KNOWN, Math.floor(budget.input * KNOWN_SHARE)),
    focus: job.focus,
  });
}

/** The patches merged in order, or why they can't stand for what would be hidden. */
function settle<M>(call: SummaryCall<M>, sections: readonly Section[], digested: number): SummaryResult {
  const { job, asker } = call;
  if (sections.every(({ read }) => isEmpty(read))) return failedResult(call, "empty", "nothing in any part of it");
  const tokens = sections.flatMap(({ read }) => wordsOf(read)).reduce((sum, text) => sum + job.count(text), 0);
  if (tokens >= job.hiddenTokens) {
    return failedResult(call, "no-shrink", `${tokens} tokens would stand for ${job.hiddenTokens}`);
  }
  const merged = mergeAll(call, sections);
  if (merged.stands === "nothing") {
    const why = [...new Set(merged.corrected.map(({ why }) => why))].join(", ");
    return failedResult(call, "empty", `nothing of the answer can stand (${why})`);
  }
  const ledger = extendLedger(merged.state.ledger, job.input.entries, job.shape);
  const ignored = sections.flatMap(({ read }) => read.ignored);
  const corrected = [...merged.corrected, ...ignored.map((what) => ({ what, why: "not-understood" as const }))];
  return { kind: "written", state: { ...merged.state, ledger }, digested, corrected, ...asker.spent() };
}

interface MergedSections {
  readonly state: SummaryState;
  readonly corrected: readonly SummaryCorrection[];
  /** `nothing`: what was said of the hidden part was dropped, so that the state says nothing of it. */
  readonly stands: "something" | "nothing";
}

/** Resolutions of all parts count as one patch's: many small ones may not close more than one large one could. */
function mergeAll<M>({ job }: SummaryCall<M>, sections: readonly Section[]): MergedSections {
  const prior = job.input.prior ?? emptyState();
  let state = prior;
  const corrected: SummaryCorrection[] = [];
  const locators = locatorsFor(job);
  for (const { first, last, knownIds, read } of sections) {
    const locate = locators(first, last);
    const patch = { ...read.patch, resolve: [] };
    const merged = mergePatch(state, patch, { coveredRange: [first, last], knownIds, locate });
    state = merged.state;
    corrected.push(...merged.dropped);
  }
  const resolve = sections.flatMap(({ read }) => read.patch.resolve);
  const range = [sections[0]!.first, sections.at(-1)!.last] as const;
  const { knownIds } = sections[0]!;
  const closed = mergePatch(state, { add: {}, update: [], resolve }, { coveredRange: range, knownIds });
  // A merge that changes nothing leaves the sections as they are, the same object.
  const worded = sections.some(({ read }) => wordsOf(read).length > 0);
  const changed = (worded ? state : closed.state).sections !== prior.sections;
  const stands = changed ? "something" : "nothing";
  return { state: closed.state, corrected: [...corrected, ...closed.dropped], stands };
}

/** Finds sources among a part's own messages. A message that spans many parts is indexed once. */
function locatorsFor<M>({ input, shape }: SummaryCall<M>["job"]): (first: number, last: number) => Locate {
  let cached: { first: number; last: number; locate: Locate } | null = null;
  return (first, last) => {
    if (cached?.first !== first || cached.last !== last) {
      const within = input.entries.filter(({ seq }) => seq >= first && seq <= last);
      cached = { first, last, locate: createLocator(within, shape) };
    }
    return cached.locate;
  };
}

function wordsOf({ patch }: ReadPatch): string[] {
  const items = [...Object.values(patch.add).flat(), ...patch.update];
  return items.map(({ text, why }) => (why === undefined ? text : `${text} ${why}`));
}

/*
 * Writes a summary as prose, for a prompt of the caller's own: one text per part of the conversation, and as many
 * further calls as it takes to make one of them. The ledger and the items of earlier summaries stay beside it.
 */

/** Each round shortens by what an answer may take against what a prompt may hold, so a few are enough for any length. */
const ROUNDS = 6;

async function writeProse<M>(call: SummaryCall<M>): Promise<SummaryResult> {
  const { job, options, count } = call;
  const prior = job.input.prior ?? emptyState();
  const maxTokens = roomFor(call, prosePromptFor(call, "", prior.prose), placesIn(options.summaryPrompt));
  if (tooSmall(maxTokens)) {
    const detail = `a summarizer window of ${options.window} tokens leaves ${maxTokens} for messages; use a larger one or a shorter prompt`;
    return failedResult(call, "error", detail);
  }
  const { entries } = job.input;
  const bounds = { count, maxTokens, maxCalls: options.maxSummarizerCalls };
  const chunked = await inTurns(chunkMessages(entries, job.shape, bounds));
  if (chunked.chunks.length === 0) return failedResult(call, "empty", "the hidden messages hold no text");

  const whole = { ...call, options: { ...options, trimTokensToSummarize: null } };
  const joinTokens = roomFor(whole, prosePromptFor(call, "", prior.prose), placesIn(options.summaryPrompt));
  let texts: readonly string[] = chunked.chunks.map(({ text }) => text);
  for (let round = 0; round < ROUNDS; round++) {
    // The summary so far is carried on where everything comes together.
    const carried = texts.length === 1 ? prior.prose : null;
    const answers = await askAll(call, texts.length, (index) => proseQuestion(call, texts[index]!, carried));
    if (answers.kind === "failed") return failedResult(call, answers.reason, answers.detail);
    if (answers.value.length === 1) return written(call, answers.value[0]!, chunked.digested.length);
    texts = joined(answers.value, joinTokens, count);
  }
  return failedResult(call, "no-shrink", `still ${texts.length} parts after ${ROUNDS} rounds`);
}

function written<M>({ job, asker }: SummaryCall<M>, text: string, digested: number): SummaryResult {
  const prior = job.input.prior ?? emptyState();
  const settled: NeutralProse = neutralizeProse(text);
  const ledger = extendLedger(prior.ledger, job.input.entries, job.shape);
  const through = Math.max(prior.through, job.input.entries.at(-1)?.seq ?? 0);
  const state = { ...prior, through, ledger, prose: settled.text };
  return { kind: "written", state, digested, corrected: settled.dropped, ...asker.spent() };
}

function proseQuestion<M>(call: SummaryCall<M>, transcript: string, prior: string | null): Question<string> {
  const { job, budget } = call;
  const prompt = prosePromptFor(call, transcript, prior);
  return {
    request: { kind: "prose", system: "", prompt, maxOutputTokens: budget.output, schema: null, prefix: null },
    maxOutputTokens: outputAfterCut(call, prompt),
    read: (answer) => readProseAnswer(answer, { hiddenTokens: job.hiddenTokens, count: job.count, transcript }),
  };
}

function prosePromptFor<M>({ options, job }: SummaryCall<M>, transcript: string, prior: string | null): string {
  return prosePrompt({ template: options.summaryPrompt, transcript, prior, focus: job.focus });
}

/** Neighbouring texts together as far as they fit one prompt. */
function joined(texts: readonly string[], maxTokens: number, count: (text: string) => number): string[] {
  const groups: string[] = [];
  let open = "";
  for (const text of texts) {
    const longer = open === "" ? text : `${open}\n\n${text}`;
    if (open !== "" && count(longer) > maxTokens) {
      groups.push(open);
      open = text;
    } else open = longer;
  }
  return [...groups, open];
}

function placesIn(template: string | null): number {
  return Math.max(1, (template ?? "").split("{messages}").length - 1);
}
