/**
 * The evaluation: what one search brings back, what requests hold of what is used again and what they cost, and whether an exact
 * value stands in the request that asks for it. No model is asked and nothing is sent anywhere. What is beyond the bounds is left
 * out and told.
 */
import { errorText } from "@palimpsest/core/internal/text";
import type { SummarizationOptions } from "palimpsest/home";
import { exactCounter } from "palimpsest/internal/models";
import type { Figures } from "./gate.ts";
import { type PromptFigures, promptFigures, sessionOf } from "./prompt-figures.ts";
import { type ExactHistory, fromSession, type SearchedThread } from "./question-data.ts";
import type { EvalInput, EvalSession } from "./read-file.ts";
import { remembering } from "./remembering.ts";
import { askHistory, overAgent } from "./request.ts";
import { evenly, newest, type SampleBounds } from "./sample.ts";
import { type Figure, meanOf, measure, type Summary, summaries } from "./search-figures.ts";
import { ours } from "./search-subjects.ts";
import { ourThread } from "./senders.ts";

export interface EvalOptions {
  /** The model's window in tokens. */
  readonly window: number;
  /** The policy; false: nothing is compacted by itself. */
  readonly summarization?: SummarizationOptions | false | undefined;
  readonly bounds: SampleBounds;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((what: string) => void) | undefined;
}

export interface EvalReport {
  readonly window: number;
  /** A row for each set, then one for each kind of question in it. Shares of 1. */
  readonly search: readonly Summary[];
  readonly prompts: readonly PromptRow[];
  readonly request: readonly RequestRow[];
  /** What was left out, and why something wasn't measured. */
  readonly notes: readonly string[];
  /** What a gate can hold, by name; shares in percent. */
  readonly figures: Figures;
}

interface PromptRow extends PromptFigures {
  /** The name of the input. */
  readonly of: string;
  readonly sessions: number;
}

interface RequestRow {
  readonly set: string;
  readonly questions: number;
  /** Shares of the questions whose answer is in the request, and after one `recall`. */
  readonly inRequest: Figure;
  readonly afterRecall: Figure;
}

export async function evaluate(inputs: readonly EvalInput[], options: EvalOptions): Promise<EvalReport> {
  const notes: string[] = [];
  const count = remembering(await exactCounter("o200k_base"));
  const held = inputs.map((input) => bounded(input, options.bounds, notes));
  const threads = held.flatMap(({ name, sessions, threads: given }) => [...given, ...knownIn(name, sessions)]);
  const search = await searchRows(threads, { ...options, count, notes });
  const prompts: PromptRow[] = [];
  for (const { name, sessions } of held)
    if (sessions.length > 0) prompts.push(await promptRow(name, sessions, { ...options, count, notes }));
  const request = await requestRows(
    inputs.flatMap(({ histories }) => histories),
    options,
    notes,
  );
  const figures = { ...searchFigures(search), ...promptsFigures(prompts), ...requestFigures(request) };
  return { window: options.window, search, prompts, request, notes, figures };
}

/** In tokens: what one `recall` shows. */
const BUDGETS = [2_000];

interface EvaluationSetup extends EvalOptions {
  readonly count: (text: string) => number;
  readonly notes: string[];
}

function bounded(input: EvalInput, bounds: SampleBounds, notes: string[]): EvalInput {
  const sessions = evenly(input.sessions, bounds.conversations).map((session) => ({
    ...session,
    turns: newest(session.turns, bounds),
  }));
  if (sessions.length < input.of) notes.push(`${input.name}: ${sessions.length} of ${input.of} sessions.`);
  const said = sessions.reduce((sum, { of }) => sum + of, 0);
  const kept = sessions.reduce((sum, { turns }) => sum + turns.length, 0);
  if (kept < said) notes.push(`${input.name}: ${kept} of ${said} messages, the newest of each session.`);
  return { ...input, sessions };
}

/** A repeated sentence is a question for where it was said first. */
function knownIn(name: string, sessions: readonly EvalSession[]): SearchedThread[] {
  return sessions.flatMap(({ name: id, turns }) => {
    const messages = turns.map(({ message, at }) => ({ at: new Date(at).toISOString(), message }));
    return fromSession(id, messages)
      .filter(({ set }) => !set.includes("removed"))
      .map((one) => ({ ...one, set: one.set.replace(/^coding/, name) }));
  });
}

async function searchRows(threads: readonly SearchedThread[], { bounds, count, notes, ...options }: EvaluationSetup) {
  const scores = [];
  for (const [set, own] of Map.groupBy(threads, (thread) => thread.set)) {
    const all = own.flatMap((thread) => thread.questions.map((question) => ({ thread, question })));
    const asked = evenly(all, bounds.questions);
    if (asked.length < all.length) notes.push(`${set}: ${asked.length} of ${all.length} questions, evenly chosen.`);
    for (const [thread, chosen] of Map.groupBy(asked, (one) => one.thread)) {
      options.signal?.throwIfAborted();
      options.onProgress?.(`search in ${set}, ${thread.id}`);
      const questions = chosen.map(({ question }) => question);
      scores.push(...(await measure([{ ...thread, questions }], ours(), { count, budgets: BUDGETS })));
    }
  }
  return summaries(scores);
}

/** A source lies more than so many messages back. In short dialogs a few messages ago is already far. */
const DISTANCE = { session: 20, dialog: 6 } as const;
const SHORT_DIALOG = 100;

async function promptRow(name: string, sessions: readonly EvalSession[], options: EvaluationSetup): Promise<PromptRow> {
  const { count, bounds, window, signal } = options;
  const isShort = sessions.length > 1 && sessions.every(({ turns }) => turns.length < SHORT_DIALOG);
  const distance = DISTANCE[isShort ? "dialog" : "session"];
  options.onProgress?.(`requests of ${name}`);
  const played = sessions.map((session) =>
    sessionOf(session.name, session.turns, { distance, count, searches: bounds.questions }),
  );
  const figures = await promptFigures(ourThread("ours", options.summarization), played, { window, count, signal });
  const searched = played.reduce((sum, { searches }) => sum + searches, 0);
  if (searched < figures.probes)
    options.notes.push(
      `${name}: ${searched} of ${figures.probes} things that are used again were searched for if missing.`,
    );
  if (figures.probes === 0)
    options.notes.push(`${name}: nothing is used again after more than ${distance} messages, so "seen" has no figure.`);
  if (figures.over + figures.failed > 0)
    options.notes.push(`${name}: ${figures.over + figures.failed} of ${figures.requests} requests don't fit.`);
  return { of: name, sessions: sessions.length, ...figures };
}

async function requestRows(
  histories: readonly ExactHistory[],
  { window, bounds, signal, onProgress }: EvalOptions,
  notes: string[],
): Promise<RequestRow[]> {
  const scores = [];
  const most = Math.ceil(bounds.turns / Math.max(1, histories.length));
  for (const history of histories) {
    signal?.throwIfAborted();
    onProgress?.(`requests about ${history.id}`);
    const questions = evenly(history.questions, most);
    try {
      scores.push(...(await askHistory(overAgent("later"), { ...history, questions }, window)));
    } catch (error) {
      notes.push(`${history.id} can't be asked about in a window of ${window} tokens: ${errorText(error)}.`);
    }
  }
  if (scores.length === 0) return [];
  const all = histories.reduce((sum, { questions }) => sum + questions.length, 0);
  if (scores.length < all) notes.push(`exact values, request: ${scores.length} of ${all} questions, evenly chosen.`);
  return [
    {
      set: "exact values",
      questions: scores.length,
      inRequest: meanOf(scores.map(({ inRequest }) => Number(inRequest))),
      afterRecall: meanOf(scores.map(({ afterRecall }) => Number(afterRecall))),
    },
  ];
}

function searchFigures(rows: readonly Summary[]): Figures {
  return figuresOf(
    rows
      .filter(({ kind }) => kind === null)
      .flatMap(({ set, figures }) =>
        Object.entries(figures).map(([name, { mean }]) => [`${set} ${name}`, percent(mean)] as const),
      ),
  );
}

function promptsFigures(rows: readonly PromptRow[]): Figures {
  return figuresOf(
    rows.flatMap(({ of, who: _who, ...figures }) =>
      Object.entries(figures).map(([figure, value]) => [`${of} ${figure}`, value] as const),
    ),
  );
}

function requestFigures(rows: readonly RequestRow[]): Figures {
  return figuresOf(
    rows.flatMap(({ set, inRequest, afterRecall }) => [
      [`${set} inRequest`, percent(inRequest.mean)] as const,
      [`${set} afterRecall`, percent(afterRecall.mean)] as const,
    ]),
  );
}

function figuresOf(entries: readonly (readonly [string, number | null])[]): Figures {
  return Object.fromEntries(entries);
}

function percent(share: number): number {
  return Math.round(1000 * share) / 10;
}
