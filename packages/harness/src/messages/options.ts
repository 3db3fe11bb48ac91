/** What may be asked of a compaction of messages, and what it comes to with the defaults filled in. */
import type { Policy, PruneRung, Window } from "@palimpsest/core/internal/compaction";
import { PalimpsestError } from "@palimpsest/core/internal/errors";
import type { MessageSource } from "@palimpsest/core/internal/log";
import {
  type Detection,
  type Dialect,
  detectDialect,
  isDialect,
  openaiRules,
  type ResponsesItem,
  type RuleSet,
  readMessage,
  responsesItems,
  responsesTurns,
  rulesOf,
  type Shape,
  shapeOf,
  unreadable,
} from "@palimpsest/core/internal/message";
import {
  answerReserve,
  type CountText,
  charsPerToken,
  type Frame,
  type ImageRule,
} from "@palimpsest/core/internal/tokens";
import type { OnCompactionEvent } from "../compaction/events.ts";
import { createModelWriter } from "../compaction/model-writer.ts";
import {
  type PruneSettings,
  SettingsError,
  type Summarization,
  type SummarizationOptions,
  summarizationFromOptions,
} from "../compaction/summarization.ts";
import { type SummaryWriter, summarizeBy } from "../compaction/summarize.ts";
import { nearest } from "../nearest.ts";
import { grownArrays, type MessagesState, type MessagesUsage } from "./state.ts";

type When =
  | "trigger"
  | "keep"
  | "triggerFraction"
  | "keepRecentMessages"
  | "keepRecentFraction"
  | "lowWater"
  | "minGain";
type How = "summaryFormat" | "maxSummaryTokens" | "summaryPrompt" | "trimTokensToSummarize" | "maxSummarizerCalls";

export interface CompactMessagesOptions<M extends object = object> extends Pick<SummarizationOptions, When | How> {
  /** The model's input window in tokens. */
  readonly window: number;
  /** Tokens kept free for the answer. */
  readonly reserve?: number;
  /** Tokens of what is sent beside the messages: tool schemas, a system prompt of its own. */
  readonly fixed?: number;
  /** The `state` of the call before, for the same array with messages added at its end. */
  readonly state?: MessagesState | null | undefined;
  /** What to do with a state that belongs to another array: `throw` (the default) a StateMismatchError, or start anew. */
  readonly onMismatch?: "throw" | "reset";
  /** What the provider reported for the newest call: the count goes on from it. `of`: the place of its answer, from 1; the last one's unless told. */
  readonly usage?: (MessagesUsage & { readonly of?: number }) | null | undefined;
  /** Counts a text's tokens; by default four characters are one. */
  readonly counter?: CountText | MessagesCounter;
  /** Old tool traffic is shortened before anything is hidden; null: never. */
  readonly prune?: MessagesPruning | null;
  /** Places, from 1, of messages that every summary quotes. */
  readonly pins?: readonly number[];
  /** What the summary should keep in view. */
  readonly focus?: string;
  /** `manual` compacts whatever the size, `overflow` after a provider's refusal; `automatic` at the trigger. */
  readonly cause?: "automatic" | "manual" | "overflow";
  /** What finds the hidden messages again, if your agent has it: `find them with ...` says the summary. */
  readonly originals?: string | null;
  /** Answers a prompt; by default summaries are extracted without a model. */
  readonly summarizer?: MessagesSummarizer | null;
  /** Tokens of the summarizer's window; the same as the model's unless told. */
  readonly summarizerWindow?: number;
  /** Writes the summaries itself, in place of a summarizer. */
  readonly writer?: SummaryWriter | null;
  readonly onEvent?: OnCompactionEvent;
  /** Whose messages they are; by default found out. */
  readonly dialect?: Dialect;
  /** Reads and writes messages of your own, and what their provider accepts. */
  readonly shape?: Shape<M>;
  readonly rules?: RuleSet;
  readonly signal?: AbortSignal | undefined;
}

export type MessagesSummarizer = (prompt: string, signal: AbortSignal) => Promise<string> | string;

/** A counter that knows more of its model, as `counterFor` of `palimpsest/models` gives. */
export interface MessagesCounter {
  readonly count: CountText;
  /** Reported tokens per counted one, before anything is learned. */
  readonly prior?: number;
  readonly frame?: Frame;
  readonly imageRule?: ImageRule;
}

export interface MessagesPruning extends Partial<PruneSettings> {
  /** Whether the provider still has the prompt in its cache; shortening breaks it. `warm` unless told. */
  readonly cache?: "warm" | "cold";
}

export interface Settings {
  readonly window: Window;
  readonly fixed: number;
  readonly policy: Policy;
  readonly prune: (() => PruneRung) | null;
  readonly counter: MessagesCounter;
  readonly writer: SummaryWriter | null;
}

/** Throws a SettingsError with every problem at once. */
export function settingsOf<M extends object>(options: CompactMessagesOptions<M>): Settings {
  const { window: size, reserve = answerReserve(size, null), fixed = 0, counter = charsPerToken(4) } = options;
  const sizes = sizeProblems({ window: size, reserve, fixed });
  const problems = [...unknownOptions(options), ...sizes, ...usageProblems(options.usage)];
  if (problems.length > 0) throw new SettingsError(problems);
  const { prune, ...rest } = options;
  const summarization = summarizationFromOptions({ ...rest, ...(prune != null && { prune: pruneSettings(prune) }) });
  return {
    window: { size, reserve },
    fixed,
    policy: summarization.policy,
    prune: pruning(summarization, prune),
    counter: typeof counter === "function" ? { count: counter } : counter,
    writer: writerOf(options, summarization),
  };
}

function pruneSettings({ cache: _, ...settings }: MessagesPruning): Partial<PruneSettings> {
  return settings;
}

function pruning({ prune }: Summarization, given: MessagesPruning | null | undefined): Settings["prune"] {
  const { enabled, from, protectTokens, minGainTokens } = prune;
  if (given === null || !enabled) return null;
  const policy = { protectTokens, minGainTokens, ...(from === null ? {} : { from }) };
  return () => ({ policy, cache: given?.cache ?? "warm" });
}

function writerOf<M extends object>(
  { writer, summarizer, summarizerWindow, window }: CompactMessagesOptions<M>,
  settings: Summarization,
): SummaryWriter | null {
  if (writer != null || summarizer == null) return writer ?? null;
  return createModelWriter({
    summarize: summarizeBy(summarizer),
    window: summarizerWindow ?? window,
    reservedOutputTokens: settings.reservedOutputTokens,
    trimTokensToSummarize: settings.trimTokensToSummarize,
    maxSummarizerCalls: settings.maxSummarizerCalls,
    summaryPrompt: settings.summaryPrompt,
  });
}

/** Checked against the type: an option that is missing here, or that isn't one, doesn't compile. */
const OPTIONS: Readonly<Record<keyof CompactMessagesOptions, true>> = {
  window: true,
  reserve: true,
  fixed: true,
  state: true,
  onMismatch: true,
  usage: true,
  counter: true,
  prune: true,
  pins: true,
  focus: true,
  cause: true,
  originals: true,
  summarizer: true,
  summarizerWindow: true,
  writer: true,
  onEvent: true,
  dialect: true,
  shape: true,
  rules: true,
  signal: true,
  trigger: true,
  keep: true,
  triggerFraction: true,
  keepRecentMessages: true,
  keepRecentFraction: true,
  lowWater: true,
  minGain: true,
  summaryFormat: true,
  maxSummaryTokens: true,
  summaryPrompt: true,
  trimTokensToSummarize: true,
  maxSummarizerCalls: true,
};

function unknownOptions(options: object): string[] {
  const names = Object.keys(OPTIONS);
  const unknown = Object.keys(options).filter((name) => !names.includes(name));
  return unknown.map((name) => {
    const meant = nearest(name, names);
    return `${name} is not an option; ${meant === null ? `there are ${names.join(", ")}` : `did you mean ${meant}?`}`;
  });
}

function sizeProblems({ window, reserve, fixed }: Record<"window" | "reserve" | "fixed", number>): string[] {
  return [
    ...(window > 0 && Number.isFinite(window) ? [] : [`window ${window} must be a number of tokens above 0`]),
    ...(reserve >= 0 && reserve < window
      ? []
      : [`reserve ${reserve} must be from 0 to less than the window, ${window}`]),
    ...(fixed >= 0 ? [] : [`fixed ${fixed} must be 0 or more tokens`]),
  ];
}

function usageProblems(usage: CompactMessagesOptions["usage"]): string[] {
  if (usage == null) return [];
  return Object.entries(usage).flatMap(([name, value]) =>
    Number.isFinite(value) && value >= 0 ? [] : [`usage.${name} ${value} must be a number from 0 on`],
  );
}

// How an array of messages is read: by its own shape or by the dialect it is in. A flat list of OpenAI's Responses
// items is gathered into turns, since one answer is several items, and what is sent is a flat list again.

interface FormOptions<M extends object> {
  readonly shape?: Shape<M>;
  readonly rules?: RuleSet;
  readonly dialect?: Dialect;
}

export interface Form<M> {
  readonly shape: Shape<M>;
  readonly rules: RuleSet;
  /** The messages as the shape reads them. */
  turns(messages: readonly M[]): readonly M[];
  /** The place, from 1, of the turn that holds the message at this place. */
  turnOf(messages: readonly M[], place: number): number;
  /** Turns as they are sent, with what each begins with. */
  sent(turns: readonly M[], sources: readonly MessageSource[]): Sent<M>;
}

interface Sent<M> {
  readonly messages: readonly M[];
  readonly sources: readonly MessageSource[];
}

export function formOf<M extends object>(messages: readonly M[], options: FormOptions<M>): Form<M> {
  if (!Array.isArray(messages))
    throw new PalimpsestError("bad-message", `messages must be an array of messages, not ${kindOf(messages)}`);
  if (options.shape !== undefined) return plainForm(options.shape, options.rules ?? rulesFor(options.shape.dialect));
  const dialect = options.dialect ?? dialectOf(messages);
  checkReadable(messages, dialect);
  // The message types are known only to their shapes; which one it is was just found out.
  const form = plainForm(shapeOf<M>(dialect), options.rules ?? rulesOf(dialect));
  const flat = dialect === "openai-responses" && !messages.some(Array.isArray);
  return flat ? flatForm(form) : form;
}

function kindOf(value: unknown): string {
  return value === null
    ? "null"
    : value === undefined
      ? "undefined"
      : `a${typeof value === "object" ? "n" : ""} ${typeof value}`;
}

const readable = new Map<Dialect, WeakSet<object>>();

/** As an open thread checks what is appended; each message once. */
function checkReadable(messages: readonly object[], dialect: Dialect): void {
  const known = readable.get(dialect) ?? new WeakSet();
  readable.set(dialect, known);
  for (const [index, message] of messages.entries()) {
    if (known.has(message)) continue;
    const read = readMessage(dialect, message);
    // An object of a client's own class is read as the JSON that it becomes.
    const problem = read.kind === "problem" && readMessage(dialect, asJson(message)).kind === "problem" ? read : null;
    if (problem !== null)
      throw new PalimpsestError("bad-message", `message ${index + 1} can't be read: ${problem.detail}`);
    known.add(message);
  }
}

function asJson(message: object): unknown {
  return JSON.parse(JSON.stringify(message) ?? "null");
}

const detections = grownArrays<Detection>();

/** Of an array that has grown, only what is new is looked at, unless it speaks for another dialect. Throws for what no dialect has. */
function dialectOf(messages: readonly object[]): Dialect {
  const { same, value: before, keep } = detections(messages);
  const fresh = before === undefined ? messages : messages.slice(same);
  if (unreadable(fresh) !== null) throw new PalimpsestError("bad-message", unreadable(messages)!);
  const now = detectDialect(fresh);
  const stands = before !== undefined && (now.marked === 0 || now.dialect === before.dialect);
  const detection = stands ? before : before === undefined ? now : detectDialect(messages);
  keep(detection);
  return detection.dialect;
}

function rulesFor(dialect: string): RuleSet {
  return isDialect(dialect) ? rulesOf(dialect) : openaiRules;
}

function plainForm<M extends object>(shape: Shape<M>, rules: RuleSet): Form<M> {
  return {
    shape,
    rules,
    turns: (messages) => messages,
    turnOf: (_, place) => place,
    sent: (messages, sources) => ({ messages, sources }),
  };
}

function flatForm<M extends object>(form: Form<M>): Form<M> {
  const gather = (messages: readonly M[]) => responsesTurns(messages as readonly ResponsesItem[]) as readonly M[];
  const itemsOf = (turn: M) => responsesItems([turn as ResponsesItem]) as readonly object[] as readonly M[];
  return {
    ...form,
    turns: gather,
    turnOf: (messages, place) => gather(messages.slice(0, place)).length,
    sent(turns, sources) {
      const lists = turns.map(itemsOf);
      return { messages: lists.flat(), sources: lists.flatMap((items, index) => items.map(() => sources[index]!)) };
    },
  };
}
