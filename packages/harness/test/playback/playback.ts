/**
 * Plays a thread message by message through automatic compaction, as an agent would have lived it, and judges every
 * request it would have sent: the provider's rules, the window, how often compaction was tried.
 */
import type { CompactionOutcome, Growth, Policy, PruneRung, Window } from "@palimpsest/core/internal/compaction";
import { limitsOf } from "@palimpsest/core/internal/compaction";
import type { MessageRecord } from "@palimpsest/core/internal/log";
import { forRequest, type Role, type RuleSet, type Shape, violations } from "@palimpsest/core/internal/message";
import { createSizer } from "@palimpsest/core/internal/prompt";
import { RECALL } from "@palimpsest/core/internal/summary";
import type { Meter } from "@palimpsest/core/internal/tokens";
import { createCompactor } from "../../src/compaction/compactor.ts";
import { type BackgroundOptions, drafting } from "../../src/compaction/drafts.ts";
import { FloorError } from "../../src/compaction/summarization.ts";
import type { SummaryWriter } from "../../src/compaction/summarize.ts";
import type { ThreadLog } from "../../src/thread/thread.ts";
import { livePrompt } from "../../src/thread/thread-view.ts";
import { boundPlayback } from "./bound-playback.ts";
import { playedThread } from "./played-thread.ts";

/** A thread that messages are played into, and what it can give back of them. */
export interface PlayedThread<M> extends ThreadLog<M> {
  say(message: M): Promise<void>;
  /** Everything ever said, in order: the very objects, or their JSON text. */
  said(): Promise<readonly (M | string)[]>;
}

export interface PlaybackOptions<M> {
  /** Where it is played; in memory when absent. */
  readonly thread?: PlayedThread<M>;
  readonly messages: readonly M[];
  readonly shape: Shape<M>;
  readonly rules: RuleSet;
  readonly meter: Meter<M>;
  readonly window: Window;
  readonly policy: Policy;
  readonly writer: SummaryWriter | null;
  readonly prune: PruneRung | null;
  /** Drafts summaries ahead of the trigger; each is finished before the next message. */
  readonly background?: BackgroundOptions;
  /** Time of each message in milliseconds; without it a second passes between two. */
  readonly times?: readonly number[];
  /** `bound`: as for a model that takes a thought back only behind the prompt it was made under. */
  readonly reasoning?: "bound" | "free";
  readonly onRequest?: (messages: readonly M[], tokens: number) => void;
}

export interface PlaybackReport {
  readonly requests: number;
  readonly violations: number;
  readonly overWindow: number;
  /** Requests that no prompt could have served: the floor exceeds the window. */
  readonly impossible: number;
  readonly replayIdentical: boolean;
  readonly attempts: number;
  /** Attempts before the view had grown by the minimum gain. */
  readonly hasty: number;
  readonly summarizerCalls: number;
  /** Compactions that found their summary drafted. */
  readonly draftsUsed: number;
  readonly rungs: Readonly<Record<string, number>>;
  /** With bound reasoning: thoughts sent again, and those sent behind another prompt than their own. */
  readonly thoughts: number;
  readonly misplaced: number;
  /** The first thing that went wrong, for a person. */
  readonly firstFault: string | null;
}

export async function playback<M extends object>(options: PlaybackOptions<M>): Promise<PlaybackReport> {
  const { messages, shape, meter, window } = options;
  const thread: PlayedThread<M> = options.thread ?? playedThread(shape);
  const tally = new PlaybackTally(window, options.policy);
  const rules = forRequest(options.rules);
  const bound = options.reasoning === "bound" ? boundPlayback(shape) : null;
  const prompt = livePrompt(thread, createSizer({ shape, rules, meter }));
  const records = new Map<number, MessageRecord>();
  let now = options.times?.[0] ?? 0;
  const compactor = createCompactor({
    thread,
    prompt,
    window: () => window,
    policy: options.policy,
    prune: options.prune === null ? null : () => options.prune!,
    writer: options.writer,
    quotes: async (seqs) => seqs.flatMap((seq) => records.get(seq) ?? []),
    archive: null,
    originals: () => RECALL,
    clock: () => new Date(now),
    on: (event) => {
      if (event.type === "compaction-end") tally.outcome(event.outcome);
      if (event.type === "draft-used") tally.draftsUsed++;
    },
    ...(options.background === undefined ? {} : { background: drafting(options.background) }),
  });
  for (const [index, message] of messages.entries()) {
    now = options.times?.[index] ?? now + 1000;
    if (shape.role(message) === "assistant") {
      await request();
      bound?.answered(message);
    }
    await thread.say(message);
    const record = thread.live().tail.at(-1);
    if (record !== undefined) records.set(record.seq, record);
    tally.grew(meter.message(message), shape.role(message));
  }
  return tally.report(thread, messages);

  async function request(): Promise<void> {
    tally.requests++;
    try {
      await compactor.compact({ cause: "automatic" });
      await compactor.settled();
    } catch (error) {
      if (!(error instanceof FloorError)) throw error;
      tally.impossible++;
      return;
    }
    const { messages: sent } = prompt();
    const shown = bound?.send(sent);
    if (shown !== undefined) tally.thoughts(shown);
    tally.judge(shown?.messages ?? sent, { ...options, rules });
  }
}

class PlaybackTally {
  requests = 0;
  impossible = 0;
  draftsUsed = 0;
  #violations = 0;
  #overWindow = 0;
  #attempts = 0;
  #hasty = 0;
  #calls = 0;
  #thoughts = 0;
  #misplaced = 0;
  #rungs: Record<string, number> = {};
  #growth: Growth | null = null;
  #excused = false;
  #firstFault: string | null = null;
  readonly #minGain: Growth;
  /** What may be sent while no report has confirmed the count. */
  readonly #usable: number;

  constructor(window: Window, policy: Policy) {
    const { minGain, messages } = limitsOf(policy, window, 0);
    this.#minGain = { tokens: minGain, messages: messages?.minGain ?? Number.POSITIVE_INFINITY };
    this.#usable = (window.size - window.reserve) / 1.05;
  }

  grew(tokens: number, role: Role): void {
    if (this.#growth === null) return;
    const messages = this.#growth.messages + (role === "system" ? 0 : 1);
    this.#growth = { tokens: this.#growth.tokens + tokens, messages };
  }

  outcome(outcome: CompactionOutcome): void {
    if (outcome.kind === "unchanged") {
      if (outcome.reason === "below-trigger" || outcome.reason === "waiting") return;
      this.#attempt(outcome.reason, outcome.tokens);
      // It asked for no summary: what it found is that keep, or an open tool group, leaves nothing to hide.
      this.#excused = outcome.reason === "nothing-to-cut";
      this.#count(outcome.reason, 0);
      return;
    }
    // Pruning follows the price of the cache, not the window; it has its own threshold.
    if (outcome.rung !== "prune") {
      this.#attempt(outcome.reason, outcome.tokensBefore);
      this.#excused = outcome.shortfall !== null;
    }
    this.#count(outcome.rung, outcome.calls);
  }

  /** After too little was said only a request that doesn't fit may try again, and only where the last one said why. */
  #attempt(reason: string, tokens: number): void {
    this.#attempts++;
    const needed = this.#excused && tokens > Math.floor(this.#usable);
    const said = this.#growth;
    const short = said !== null && said.tokens < this.#minGain.tokens && said.messages < this.#minGain.messages;
    if (short && !needed) {
      this.#hasty++;
      this.#fault(`an attempt (${reason}) after only ${said.tokens} tokens in ${said.messages} messages`);
    }
    this.#growth = { tokens: 0, messages: 0 };
    this.#excused = false;
  }

  #count(rung: string, calls: number): void {
    this.#rungs[rung] = (this.#rungs[rung] ?? 0) + 1;
    this.#calls += calls;
  }

  thoughts({ thoughts, misplaced }: { readonly thoughts: number; readonly misplaced: number }): void {
    this.#thoughts += thoughts;
    this.#misplaced += misplaced;
    if (misplaced > 0) this.#fault(`request ${this.requests}: a thought behind another prompt than its own`);
  }

  judge<M>(sent: readonly M[], options: PlaybackOptions<M>): void {
    const { shape, meter, window, rules } = options;
    const tokens = meter.messages(sent);
    const broken = violations(sent, shape, rules);
    this.#violations += broken.length;
    if (broken.length > 0) this.#fault(`request ${this.requests}: ${broken[0]!.rule}: ${broken[0]!.detail}`);
    if (tokens > window.size - window.reserve) {
      this.#overWindow++;
      this.#fault(`request ${this.requests}: ${tokens} tokens in a window of ${window.size}`);
    }
    options.onRequest?.(sent, tokens);
  }

  #fault(text: string): void {
    this.#firstFault ??= text;
  }

  async report<M>(thread: PlayedThread<M>, messages: readonly M[]): Promise<PlaybackReport> {
    const said = await thread.said();
    const same = (body: M | string, given: M | undefined) => body === given || body === JSON.stringify(given);
    const identical = said.length === messages.length && said.every((body, index) => same(body, messages[index]));
    return {
      requests: this.requests,
      violations: this.#violations,
      overWindow: this.#overWindow,
      impossible: this.impossible,
      replayIdentical: identical,
      attempts: this.#attempts,
      hasty: this.#hasty,
      summarizerCalls: this.#calls,
      draftsUsed: this.draftsUsed,
      rungs: this.#rungs,
      thoughts: this.#thoughts,
      misplaced: this.#misplaced,
      firstFault: this.#firstFault,
    };
  }
}
