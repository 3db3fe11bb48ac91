/**
 * Plays a conversation through automatic compaction and measures it in the units of its own settings: how large requests
 * became, and how much of the end each compaction left. What is allowed is judged elsewhere.
 */
import type { Boundary, CompactionOutcome, Policy, Threshold, Window } from "@palimpsest/core/internal/compaction";
import { boundaries, isCeilings } from "@palimpsest/core/internal/compaction";
import type { ViewEntry } from "@palimpsest/core/internal/log";
import { forRequest, type RuleSet, type Shape } from "@palimpsest/core/internal/message";
import { createSizer, fixedSize, type Sizer } from "@palimpsest/core/internal/prompt";
import type { Meter } from "@palimpsest/core/internal/tokens";
import { createCompactor } from "../../src/compaction/compactor.ts";
import { drafting } from "../../src/compaction/drafts.ts";
import { FloorError } from "../../src/compaction/summarization.ts";
import type { SummaryWriter } from "../../src/compaction/summarize.ts";
import { livePrompt } from "../../src/thread/thread-view.ts";
import { memoryDrafts } from "./memory-drafts.ts";
import { playedThread } from "./played-thread.ts";

export interface SettingsPlayback<M> {
  readonly messages: readonly M[];
  readonly shape: Shape<M>;
  readonly rules: RuleSet;
  readonly meter: Meter<M>;
  readonly window: Window;
  /** Tokens of system prompt and tools. */
  readonly fixed: number;
  readonly policy: Policy;
  readonly writer: SummaryWriter | null;
  readonly drafts: "ahead" | "none";
  /** Ends after so many compactions. */
  readonly compactions?: number;
}

/** Tokens and messages of the conversation, and tokens of the whole request. */
export interface Amount {
  readonly tokens: number;
  readonly messages: number;
  readonly whole: number;
}

export interface SettingsReport {
  readonly requests: readonly PlayedRequest[];
  readonly compactions: readonly Kept[];
  readonly calls: number;
  readonly draftsMade: number;
  readonly draftsUsed: number;
}

export interface PlayedRequest extends Amount {
  /** What the turn being worked on weighs. */
  readonly turn: Amount;
  /** What the last compaction left; null before the first. */
  readonly left: Amount | null;
}

export interface Kept {
  readonly outcome: Extract<CompactionOutcome, { kind: "compacted" }>;
  readonly before: Amount;
  readonly after: Amount;
  /** The messages that stayed. */
  readonly tail: Amount;
  /** Places in the tail where it could have been cut further in. */
  readonly cutsInside: number;
  /** What the shortest valid tail that holds the promise weighs; null for ceilings, or when nothing would be hidden. */
  readonly promised: Amount | null;
}

export async function playSettings<M extends object>(options: SettingsPlayback<M>): Promise<SettingsReport> {
  const { messages, shape, meter, window, fixed, policy, writer } = options;
  const conversation = playedThread(shape);
  const amounts = amountsIn(options);
  const sizer: Sizer<M> = {
    ...createSizer({ shape, rules: forRequest(options.rules), meter, fixed: fixedSize({ base: fixed }) }),
    // Counted as reported, so that the whole window is used.
    count: (_, estimate) => ({ tokens: estimate, source: "reported" }),
  };
  const requests: PlayedRequest[] = [];
  const compactions: Kept[] = [];
  const tally = { calls: 0, draftsMade: 0, draftsUsed: 0 };
  const compactor = createCompactor({
    thread: conversation,
    prompt: livePrompt(conversation, sizer),
    policy,
    writer,
    window: () => window,
    prune: null,
    quotes: async () => [],
    archive: null,
    clock: () => new Date(0),
    on: (event) => {
      if (event.type === "draft-start") tally.draftsMade++;
      if (event.type === "draft-used") tally.draftsUsed++;
      if (event.type === "summary-usage") tally.calls += event.calls;
    },
    background: options.drafts === "ahead" ? drafting({ table: memoryDrafts() }) : null,
  });
  for (const message of messages) {
    if (compactions.length === options.compactions) break;
    if (shape.role(message) === "assistant" && !(await request())) break;
    await conversation.say(message);
  }
  return { requests, compactions, ...tally };

  async function request(): Promise<boolean> {
    const view = conversation.view();
    try {
      const outcome = await compactor.compact({ cause: "automatic" });
      if (outcome.kind === "compacted") compactions.push(amounts.kept(view, conversation.view(), outcome));
      await compactor.settled();
    } catch (error) {
      if (!(error instanceof FloorError)) throw error;
      return false;
    }
    requests.push({ ...amounts.sent(conversation.view()), left: compactions.at(-1)?.after ?? null });
    return true;
  }
}

type PlaybackView<M> = readonly ViewEntry<M>[];

function amountsIn<M>({ shape, meter, fixed, policy, window }: SettingsPlayback<M>) {
  const asks = ({ source, message }: ViewEntry<M>): boolean => source === "request" || shape.role(message) === "user";
  const amountOf = (view: PlaybackView<M>): Amount => {
    const spoken = view.filter(({ source, message }) => source === "summary" || shape.role(message) !== "system");
    const tokens = ({ message, addition }: ViewEntry<M>): number =>
      meter.message(message) + (addition === null ? 0 : meter.text(addition) + 4);
    const size = (entries: PlaybackView<M>): number => entries.reduce((sum, entry) => sum + tokens(entry), 0);
    return { tokens: size(spoken), messages: spoken.length, whole: fixed + size(view) };
  };
  const promisedTail = (view: PlaybackView<M>): Amount | null => {
    const { keep } = policy;
    if (keep === null || isCeilings(keep)) return null;
    const holds = ({ index }: Boundary): boolean => inUnit(amountOf(view.slice(index)), keep, window) >= keep.value;
    const cut = boundaries(view, shape).findLast(holds);
    if (cut === undefined || cut.index <= view.findIndex(({ source }) => source === "message")) return null;
    // A cut inside a turn leaves the turn's request standing.
    const request = cut.kind === "group" ? view.slice(0, cut.index).filter(asks).slice(-1) : [];
    return amountOf([...request, ...view.slice(cut.index)]);
  };
  return {
    sent(view: PlaybackView<M>): Omit<PlayedRequest, "left"> {
      const from = view.findLastIndex((entry) => entry.source === "message" && asks(entry));
      return { ...amountOf(view), turn: amountOf(view.slice(Math.max(0, from))) };
    },
    kept(view: PlaybackView<M>, after: PlaybackView<M>, outcome: Kept["outcome"]): Kept {
      const tail = after.filter(({ source }) => source === "message");
      return {
        outcome,
        before: amountOf(view),
        after: amountOf(after),
        tail: amountOf(tail),
        cutsInside: boundaries(tail, shape).filter(({ index }) => index > 0).length,
        promised: promisedTail(view),
      };
    },
  };
}

/** An amount in a threshold's unit: a fraction as a trigger speaks of the whole request, as a keep of the messages. */
export function inUnit(amount: Amount, { type }: Threshold, window: Window, of: "trigger" | "keep" = "keep"): number {
  if (type === "messages") return amount.messages;
  if (type === "tokens") return amount.tokens;
  return (of === "trigger" ? amount.whole : amount.tokens) / window.size;
}
