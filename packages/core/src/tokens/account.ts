/**
 * The account of one thread: how large is this prompt, for this model? Anchored on the newest report:
 *   reported + size of what was added since - size of what was removed since
 * where a message's size is what the reports around it measured, else its estimate times the learned factor. The same
 * view grown on is `anchored`, a changed one (compacted, pruned, undone) `adjusted`; without a report of the same model
 * it is `estimated`. No I/O; `count` changes nothing, so it also answers for prompts that are only considered.
 */
import type { UsageRecord } from "../log/record.ts";

export type CountSource = "reported" | "anchored" | "adjusted" | "estimated";

export interface Count {
  readonly tokens: number;
  readonly source: CountSource;
}

/** One message of a prompt, as the meter counted it. `seq` is its record; null for turns the view makes up. */
export interface EntrySize {
  readonly seq: number | null;
  readonly tokens: number;
}

/** A whole request: what the account counts. */
export interface PromptSize {
  /** Which view this is, as `viewKey` names it: equal keys mean that one prompt is the other one grown on. */
  readonly view: string;
  /** System prompt and tool schemas, as the meter counted them. */
  readonly fixed: number;
  readonly entries: readonly EntrySize[];
}

/** The model that is asked. `prior` is its family's: reported per counted token, before anything is learned. */
interface Calibration {
  readonly model: string;
  readonly prior: number;
}

/** What a provider said about one call. `input` is the whole prompt, cached part included; `of` the message that answered. */
export interface Report {
  readonly of: number;
  readonly input: number;
  readonly output: number;
}

export type Settled =
  | { readonly kind: "accepted"; readonly factor: number }
  | { readonly kind: "ignored"; readonly reason: ImpossibleReport };

export interface Account {
  count(prompt: PromptSize, calibration: Calibration): Count;
  /** Takes the report on a prompt that was sent. After a restart: the tail's usage records again, in order. */
  settle(report: Report, sent: Calibration & { readonly prompt: PromptSize; readonly window: number | null }): Settled;
  /** What one counted token of the fixed part came to in reports; null before a report of this model. */
  fixedFactor(model: string): number | null;
  /** Per model, relative to its prior; for the usage record and the head. */
  readonly factors: Readonly<Record<string, number>>;
}

/** Names a view: the fold that was live. What else changes a prompt (system, tools) is seen in its `fixed` count. */
export function viewKey(live: Omit<UsageRecord["measured"], "promptHash">): string {
  const fold = `${live.compaction ?? "-"}/${live.prune ?? "-"}`;
  return live.rules === undefined ? fold : `${fold}/${live.rules}`;
}

export function createAccount(start: { readonly factors?: Readonly<Record<string, number>> } = {}): Account {
  const factors: Record<string, number> = { ...start.factors };
  let anchor: Anchor | null = null;
  return {
    factors,
    count: (prompt, calibration) => {
      if (anchor?.model === calibration.model) return countFrom(anchor, prompt, calibration.prior);
      const estimated = sizeOf(prompt, calibration.prior, new Map()).estimated;
      return { tokens: Math.ceil(estimated * boundedFactor(factors[calibration.model] ?? 1)), source: "estimated" };
    },
    settle: (report, { prompt, model, prior, window }) => {
      const previous = anchor?.model === model ? anchor : null;
      const { estimated } = sizeOf(prompt, prior, new Map());
      const reason = impossibleReport(report.input, estimated * boundedFactor(factors[model] ?? 1), window);
      if (reason !== null) return { kind: "ignored", reason };
      const { growth, trust } =
        previous?.view === prompt.view
          ? learn(previous, { report, prompt, prior })
          : {
              growth: startGrowth(previous === null ? (factors[model] ?? 1) : factorOf(previous.growth)),
              trust: previous?.trust ?? NO_TRUST_YET,
            };
      const measured = previous?.measured ?? new Map<number, Measured>();
      const size = sizeOf(prompt, prior, measured);
      anchor = {
        model,
        view: prompt.view,
        growth,
        trust,
        measured,
        fixed: prompt.fixed,
        calibrated: calibrateFixed(previous, { input: report.input, fixed: prompt.fixed, size, prior }),
        entries: prompt.entries.length,
        of: report.of,
        input: report.input,
        output: Math.max(0, report.output || 0),
        size,
      };
      factors[model] = factorOf(growth);
      return { kind: "accepted", factor: factors[model] };
    },
    fixedFactor: (model) => (anchor?.model === model ? anchor.calibrated.factor : null),
  };
}

/** An accepted report and what is known of the prompt it measured. */
interface Anchor {
  readonly model: string;
  readonly view: string;
  readonly of: number;
  readonly input: number;
  readonly output: number;
  readonly fixed: number;
  readonly calibrated: CalibratedFixed;
  readonly entries: number;
  readonly size: AccountSize;
  readonly growth: TokenGrowth;
  readonly trust: AnswerTrust;
  readonly measured: Map<number, Measured>;
}

/** A prompt's size in two sums: what reports have measured, and counter x prior for the rest, before the factor. */
interface AccountSize {
  readonly measured: number;
  readonly estimated: number;
  /** Counter x prior of what `measured` stands for. */
  readonly expected: number;
}

/** The size of a message while it counts as it did then; a pruned one no longer does. */
interface Measured {
  readonly counted: number;
  readonly tokens: number;
}

/** What a report made of one counted token of the fixed part. */
interface CalibratedFixed {
  readonly factor: number;
  /** The fixed part's size then, and its share of what that report alone could tell about: the larger, the surer. */
  readonly fixed: number;
  readonly share: number;
}

/**
 * No two reports measure the fixed part: it is in all of them. It gets its share of what a report leaves when the measured
 * messages are taken away, by the report in which that share is largest, which is a thread's first one.
 */
function calibrateFixed(
  previous: Anchor | null,
  { input, fixed, size, prior }: { input: number; fixed: number; size: AccountSize; prior: number },
): CalibratedFixed {
  const { measured, expected, estimated } = size;
  // A wrong report before this one also made a wrong measure of the messages after it.
  const isMeasured = expected > 0 && isPlausibleGrowth({ reported: measured, estimated: expected });
  const rest = Math.max(0, isMeasured ? input - measured : (input * estimated) / (estimated + expected));
  const factor = estimated > 0 ? Math.max(FACTOR_BOUNDS[0], rest / estimated) : 1;
  const now = { factor: factor * prior, fixed, share: estimated > 0 ? (fixed * prior) / estimated : 0 };
  const known = previous?.calibrated ?? now;
  const messages = estimated - fixed * prior;
  const leavesRoom = known.factor * fixed + FACTOR_BOUNDS[0] * messages <= rest;
  const isAlike = Math.abs(fixed - known.fixed) <= SIMILAR_FIXED * known.fixed;
  return isAlike && leavesRoom && known.share > now.share ? known : now;
}

/** A fixed part that changes by less, as with another line of memory, still consists of the same kind of text. */
const SIMILAR_FIXED = 0.1;

function countFrom(anchor: Anchor, prompt: PromptSize, prior: number): Count {
  const factor = factorOf(anchor.growth);
  const now = sizeOf(prompt, prior, anchor.measured);
  const answer = answerSize(anchor, prompt, { prior, factor });
  const rest = now.estimated - anchor.size.estimated - answer.estimated;
  const change = now.measured - anchor.size.measured + answer.carried + factor * rest;
  // A wrong report must not pull the count of a prompt that has shrunk since to nothing.
  const least = FACTOR_BOUNDS[0] * (now.measured + now.estimated);
  const tokens = Math.max(Math.round(anchor.input + change), Math.ceil(least));
  if (prompt.view !== anchor.view) return { tokens, source: "adjusted" };
  const same = prompt.entries.length === anchor.entries && prompt.fixed === anchor.fixed;
  return { tokens, source: same ? "reported" : "anchored" };
}

/** What the answer to the anchored call adds: the reported output where that is credible. */
function answerSize(
  anchor: Anchor,
  prompt: PromptSize,
  { prior, factor }: { prior: number; factor: number },
): { carried: number; estimated: number } {
  const entry = prompt.entries.findLast(({ seq }) => seq === anchor.of);
  const estimated = (entry?.tokens ?? 0) * prior;
  const credible = isCredibleAnswer(anchor.output, estimated * factor, anchor.trust);
  return entry !== undefined && credible ? { carried: anchor.output, estimated } : { carried: 0, estimated: 0 };
}

/** Measures the messages between two reports of one view: the answer by its output, the others share what remains. */
function learn(
  previous: Anchor,
  { report, prompt, prior }: { report: Report; prompt: PromptSize; prior: number },
): { growth: TokenGrowth; trust: AnswerTrust } {
  const factor = factorOf(previous.growth);
  const grown = report.input - previous.input - factor * prior * (prompt.fixed - previous.fixed);
  const foretold = answerSize(previous, prompt, { prior, factor });
  const answer = foretold.carried <= grown ? foretold : { carried: 0, estimated: 0 };
  const added = prompt.entries.slice(previous.entries);
  const all = added.reduce((sum, { tokens }) => sum + tokens * prior, 0);
  const by = { reported: grown - answer.carried, estimated: all - answer.estimated };
  // Also where nothing is learned from it: what never reached the prompt must not be subtracted from it later.
  const share = by.estimated > 0 ? by.reported / by.estimated : 0;
  for (const { seq, tokens } of added) {
    if (seq === null) continue;
    const isAnswer = seq === previous.of && answer.estimated > 0;
    previous.measured.set(seq, { counted: tokens, tokens: isAnswer ? answer.carried : tokens * prior * share });
  }
  const own = added.find(({ seq }) => seq === previous.of)?.tokens ?? 0;
  const reported = grown - factor * (all - own * prior);
  const trust = compareAnswer(previous.trust, { reported, output: previous.output, estimated: own * prior * factor });
  return { growth: isPlausibleGrowth(by) ? addGrowth(previous.growth, by) : previous.growth, trust };
}

function sizeOf(prompt: PromptSize, prior: number, sizes: ReadonlyMap<number, Measured>): AccountSize {
  let measured = 0;
  let expected = 0;
  let estimated = prompt.fixed * prior;
  for (const { seq, tokens } of prompt.entries) {
    const report = seq === null ? undefined : sizes.get(seq);
    if (report === undefined || report.counted !== tokens) estimated += tokens * prior;
    else {
      measured += report.tokens;
      expected += tokens * prior;
    }
  }
  return { measured, estimated, expected };
}

/**
 * What a report can teach: whether it can be true at all, and the factor between what a provider reports and what the
 * counter estimates, learned from growth within one view only. Pure arithmetic; the account keeps the state.
 */

/** Sums of what prompts grew by between two reports of one view. Their quotient is the factor. */
interface TokenGrowth {
  readonly reported: number;
  readonly estimated: number;
}

type ImpossibleReport = "not-a-number" | "zero" | "negative" | "over-window" | "implausible";

/** Further off than this is a wrong report or a broken counter, not a tokenizer. */
const FACTOR_BOUNDS: readonly [number, number] = [0.5, 2];

/** A new view starts from the factor known so far, with the weight of this many tokens. */
const CARRIED_WEIGHT = 2000;

/** A prompt may hold this much that we can't see: the provider's own preamble, tool schemas not given to us. */
const UNSEEN = 50_000;

function boundedFactor(factor: number): number {
  return Number.isFinite(factor) ? Math.min(FACTOR_BOUNDS[1], Math.max(FACTOR_BOUNDS[0], factor)) : 1;
}

function factorOf(growth: TokenGrowth): number {
  return boundedFactor(growth.reported / growth.estimated);
}

function startGrowth(factor: number): TokenGrowth {
  return { reported: CARRIED_WEIGHT * boundedFactor(factor), estimated: CARRIED_WEIGHT };
}

/** Whether growth says something about the tokenizer; if not, a message missed the prompt or isn't in the log. */
function isPlausibleGrowth(by: TokenGrowth): boolean {
  const ratio = by.reported / by.estimated;
  return by.estimated > 0 && ratio >= 0.25 && ratio <= 4;
}

function addGrowth(growth: TokenGrowth, by: TokenGrowth): TokenGrowth {
  return { reported: growth.reported + by.reported, estimated: growth.estimated + by.estimated };
}

/**
 * Why a reported prompt size can't be that of a prompt expected to be so large; null when it can. Far too small is the
 * uncached part alone, or the report on a view that the log doesn't know (a session compacted elsewhere, then imported);
 * far too large is usage summed over many calls.
 */
function impossibleReport(input: number, expected: number, window: number | null): ImpossibleReport | null {
  if (!Number.isFinite(input)) return "not-a-number";
  if (input === 0) return "zero";
  if (input < 0) return "negative";
  if (window !== null && input > window * 1.25) return "over-window";
  return input < expected * 0.6 - 256 || input > expected * 4 + UNSEEN ? "implausible" : null;
}

/** How far off each way to foretell an answer's size has been lately, in tokens. */
interface AnswerTrust {
  readonly output: number;
  readonly estimate: number;
}

const NO_TRUST_YET: AnswerTrust = { output: 0, estimate: 0 };

/** What an answer added, as far as the next report shows it, against the two ways to foretell it. */
function compareAnswer(
  trust: AnswerTrust,
  answer: { readonly reported: number; readonly output: number; readonly estimated: number },
): AnswerTrust {
  return {
    output: 0.8 * trust.output + Math.abs(answer.reported - answer.output),
    estimate: 0.8 * trust.estimate + Math.abs(answer.reported - answer.estimated),
  };
}

/**
 * The reported output says what the answer adds to the next prompt, unless it plainly doesn't: an aborted call reports
 * less than was streamed, and some models are billed for reasoning that never enters a prompt, as they have shown lately.
 */
function isCredibleAnswer(output: number, estimated: number, trust: AnswerTrust): boolean {
  return trust.output <= trust.estimate && output >= estimated * 0.5 - 16 && output <= estimated * 2.5 + 64;
}

/*
 * An account after a restart: the reports of the present view, settled again in order. Needs the head's factors, the
 * view's entries and the tail's usage records, all of which a load has at hand; nothing hidden is read.
 */

export interface Resume {
  /** The present prompt; its messages' entries are in the log's order. */
  readonly prompt: PromptSize;
  readonly factors: Readonly<Record<string, number>>;
  /** The model family's prior for the counter that counted the prompt. */
  readonly priorOf: (model: string) => number;
  readonly window: number | null;
  /** What made the present view, and what it counted then by the reports before it. */
  readonly act?: { readonly seq: number; readonly tokensAfter: number } | null;
}

type AccountUsage = Pick<UsageRecord, "of" | "model" | "measured" | "input" | "output">;

export function resumeAccount(usages: readonly AccountUsage[], resume: Resume): Account {
  const { prompt, factors, priorOf, window, act = null } = resume;
  const account = createAccount({ factors });
  const settle = (report: Report, model: string, view: string): void => {
    const entries = prompt.entries.slice(0, lengthBefore(report.of, prompt));
    account.settle(report, { model, prior: priorOf(model), prompt: { ...prompt, view, entries }, window });
  };
  const own = usages.filter(({ measured }) => viewKey(measured) === prompt.view);
  const newest = usages.at(-1);
  // Another name than the view's: what an act counted is no report on it.
  if (own.length === 0 && newest !== undefined && act !== null)
    settle({ of: act.seq, input: act.tokensAfter, output: 0 }, newest.model, `before ${prompt.view}`);
  for (const usage of own) settle(usage, usage.model, prompt.view);
  return account;
}

/** How many entries stood in the prompt that message `of` answered. */
function lengthBefore(of: number, { entries }: PromptSize): number {
  const at = entries.findIndex(({ seq }) => seq !== null && seq >= of);
  return at < 0 ? entries.length : at;
}

// The window as a budget: what is reserved for the answer, and whether a prompt fits.

/** The model's own limit on its answer, else an eighth of a small window and 4,096 tokens of a large one. */
export function answerReserve(window: number, maxOutputTokens: number | null): number {
  return maxOutputTokens ?? Math.min(4096, Math.floor(window / 8));
}

export interface Budget {
  readonly window: number;
  readonly reserve: number;
  /** Largest request the provider takes, in bytes; null when there is no such limit. */
  readonly maxBytes?: number | null;
}

export type Fit =
  | { readonly kind: "fits"; readonly free: number }
  | { readonly kind: "too-many-tokens"; readonly by: number }
  | { readonly kind: "too-many-bytes"; readonly by: number };

/** Before the first report the counter alone speaks; this much more is assumed. */
export const UNREPORTED_MARGIN = 1.05;

/** Whether a prompt leaves room for its answer, in tokens and in bytes. */
export function fit(prompt: { readonly count: Count; readonly bytes?: number }, budget: Budget): Fit {
  const { count, bytes = 0 } = prompt;
  const tokens = count.source === "estimated" ? Math.ceil(count.tokens * UNREPORTED_MARGIN) : count.tokens;
  const free = budget.window - budget.reserve - tokens;
  if (free < 0) return { kind: "too-many-tokens", by: -free };
  const maxBytes = budget.maxBytes ?? null;
  if (maxBytes !== null && bytes > maxBytes) return { kind: "too-many-bytes", by: bytes - maxBytes };
  return { kind: "fits", free };
}
