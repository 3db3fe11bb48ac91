/**
 * Writes a summary as prose, for a prompt of the caller's own: one text per part of the conversation, and as many
 * further calls as it takes to make one of them. The ledger and the items of earlier summaries stay beside it.
 */
import { chunkMessages, extendLedger, neutralizeProse, prosePrompt } from "@palimpsest/core/internal/summary";
import { emptyState, type NeutralProse } from "@palimpsest/core/summary";
import { readProseAnswer } from "./summary-answer.ts";
import type { Question } from "./summary-call.ts";
import { askAll, failedResult, outputAfterCut, roomFor, type SummaryCall, tooSmall } from "./summary-call.ts";
import type { SummaryResult } from "./summary-writer.ts";

/** Each round shortens by what an answer may take against what a prompt may hold, so a few are enough for any length. */
const ROUNDS = 6;

export async function writeProse<M>(call: SummaryCall<M>): Promise<SummaryResult> {
  const { job, options, count } = call;
  const prior = job.input.prior ?? emptyState();
  const maxTokens = roomFor(call, promptFor(call, "", prior.prose), placesIn(options.summaryPrompt));
  if (tooSmall(maxTokens)) {
    const detail = `a summarizer window of ${options.window} tokens leaves ${maxTokens} for messages; use a larger one or a shorter prompt`;
    return failedResult(call, "error", detail);
  }
  const { entries } = job.input;
  const chunked = chunkMessages(entries, job.shape, { count, maxTokens, maxCalls: options.maxSummarizerCalls });
  if (chunked.chunks.length === 0) return failedResult(call, "empty", "the hidden messages hold no text");

  const whole = { ...call, options: { ...options, trimTokensToSummarize: null } };
  const joinTokens = roomFor(whole, promptFor(call, "", prior.prose), placesIn(options.summaryPrompt));
  let texts: readonly string[] = chunked.chunks.map(({ text }) => text);
  for (let round = 0; round < ROUNDS; round++) {
    // The summary so far is carried on where everything comes together.
    const carried = texts.length === 1 ? prior.prose : null;
    const answers = await askAll(call, texts.length, (index) => questionFor(call, texts[index]!, carried));
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

function questionFor<M>(call: SummaryCall<M>, transcript: string, prior: string | null): Question<string> {
  const { job, budget } = call;
  const prompt = promptFor(call, transcript, prior);
  return {
    request: { kind: "prose", system: "", prompt, maxOutputTokens: budget.output, schema: null, prefix: null },
    maxOutputTokens: outputAfterCut(call, prompt),
    read: (answer) => readProseAnswer(answer, { hiddenTokens: job.hiddenTokens, count: job.count, transcript }),
  };
}

function promptFor<M>({ options, job }: SummaryCall<M>, transcript: string, prior: string | null): string {
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
