/**
 * Drafts the next summary while the thread goes on, so that the trigger finds it ready and no run waits. One draft
 * at a time; it is kept beside the log and committed only if it still holds. It never touches the thread, and whatever
 * goes wrong is an event, since the trigger can always do without.
 */
import { createHash } from "node:crypto";
import type {
  Cut,
  Keep,
  Limits,
  Policy,
  Threshold,
  Window,
  WrittenSummary,
} from "@palimpsest/core/internal/compaction";
import { isCeilings, limitsOf, planCompaction, usableWindow } from "@palimpsest/core/internal/compaction";
import { applyDelta, type Delta, deltaOf, type Json, summaryEdits } from "@palimpsest/core/internal/log";
import { entryTokens, type Prompt } from "@palimpsest/core/internal/prompt";
import { PATCH_PROMPT_VERSION, PROSE_PROMPT_VERSION, readState } from "@palimpsest/core/internal/summary";
import { errorText } from "@palimpsest/core/internal/text";
import { untilAborted } from "../long-work.ts";
import type { Drafts } from "../stores/store.ts";
import type { ThreadLog } from "../thread/thread.ts";
import { type EarlierSummary, type SummaryJobOptions, type SummaryStep, summaryJob } from "./summary.ts";

export interface BackgroundOptions {
  readonly table: DraftTable;
  /** What a draft depends on beside the thread: the summarizer and its prompt. */
  readonly label?: string;
  /** `no`: finished parts of a summary are kept in the table, but none is earlier before it is needed. */
  readonly ahead?: "yes" | "no";
}

export interface SummaryBackground<M> {
  /** Starts a draft if the view is near enough to its trigger. Returns at once. */
  consider(prompt: Prompt<M>): void;
  /** The draft that covers most of the wanted range from its beginning on, if it holds. */
  ready(wanted: Cut, prompt: Prompt<M>, request: ReadyRequest): Promise<EarlierSummary | null>;
  /** Nothing prepared holds any more. */
  clear(): Promise<void>;
  /** Resolves when no draft is being written. */
  settled(): Promise<void>;
  /** Stops the draft being written; what is finished stays for the next time. */
  close(): Promise<void>;
}

interface ReadyRequest {
  /** `yes`: the caller would ask a model anyway, so a draft being written is waited for, if it will be of use. */
  readonly wait: "yes" | "no";
  readonly signal: AbortSignal;
}

interface StoredDraft extends EarlierSummary {
  readonly print: string;
}

const KEY = "draft";

interface BackgroundDeps<M> extends Omit<SummaryJobOptions<M>, "background"> {
  readonly window: () => Window;
}

interface Setting<M> extends BackgroundDeps<M> {
  readonly background: BackgroundOptions;
}

/** Where finished parts are kept, and how drafting begins. A compactor is given it: what drafts needs a store, a compactor doesn't. */
export interface OpenBackground {
  readonly table: DraftTable;
  open<M>(deps: BackgroundDeps<M>, summaryStep: SummaryStep): SummaryBackground<M>;
}

export function drafting(background: BackgroundOptions): OpenBackground {
  return {
    table: background.table,
    open: (deps, summaryStep) => new Drafting({ ...deps, background }, summaryStep),
  };
}

class Drafting<M> implements SummaryBackground<M> {
  readonly #options: Setting<M>;
  readonly #summaryStep: SummaryStep;
  #stop = new AbortController();
  #work: Promise<void> | null = null;
  /** The cut being summarized. */
  #covering: Cut | null = null;
  /** Undefined: the table was not asked yet. */
  #held: StoredDraft | null | undefined;
  /** After a draft that came to nothing, the next one waits for growth. */
  #restUntil = 0;

  constructor(options: Setting<M>, summaryStep: SummaryStep) {
    this.#options = options;
    this.#summaryStep = summaryStep;
  }

  consider(prompt: Prompt<M>): void {
    const { background, thread, policy } = this.#options;
    const { tokens } = prompt.count;
    if (background.ahead === "no" || policy.style === "rollover") return;
    if (this.#work !== null || tokens < this.#restUntil) return;
    // Who took a compaction back does not want the next one prepared.
    if (thread.head().undone !== null) return;
    if (this.#held && this.#holds(this.#held)) return;
    const cut = planDraft(prompt, usableWindow(this.#options.window(), prompt.count), policy);
    if (cut === null) return;
    this.#restUntil = Math.floor(tokens * (1 + policy.minGain));
    this.#work = this.#draft(cut, prompt, this.#stop.signal)
      .catch((error: unknown) => this.#dropped(cut, errorText(error)))
      .finally(() => {
        this.#work = null;
        this.#covering = null;
      });
  }

  async ready(wanted: Cut, prompt: Prompt<M>, { wait, signal }: ReadyRequest): Promise<EarlierSummary | null> {
    const serves = (cut: Cut): boolean => covers(cut, wanted, prompt);
    // What will be of no use is stopped: its finished parts serve the summary that is written now.
    if (wait === "yes") {
      await (this.#covering === null || serves(this.#covering)
        ? untilAborted(signal, () => this.settled()).catch(() => {})
        : this.close());
    }
    const draft = await this.#current();
    return draft !== null && serves(draft.cut) ? draft : null;
  }

  async clear(): Promise<void> {
    await this.close();
    this.#held = null;
    this.#restUntil = 0;
    await this.#options.background.table.drop();
  }

  async settled(): Promise<void> {
    await this.#work;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#work;
    this.#stop = new AbortController();
  }

  async #draft(cut: Cut, prompt: Prompt<M>, signal: AbortSignal): Promise<void> {
    // A draft of an earlier run may still hold.
    if ((await this.#current()) !== null || signal.aborted) return;
    const { on, background } = this.#options;
    on({ type: "draft-start", covers: cut.covers });
    this.#covering = cut;
    const print = this.#print(cut);
    const job = await summaryJob(cut, this.#options, prompt, null);
    const written = await this.#summaryStep.draft(job, signal);
    if (signal.aborted) return this.#dropped(cut, "stopped");
    if (written === null) return this.#dropped(cut, "the summarizer failed");
    if (this.#print(cut) !== print) return this.#dropped(cut, "outdated");
    this.#held = { cut, written, print };
    await background.table.put(KEY, draftText(this.#held, await this.#folded()));
    on({ type: "draft-ready", covers: cut.covers, calls: written.calls });
  }

  async #current(): Promise<StoredDraft | null> {
    const { table } = this.#options.background;
    if (this.#held === undefined) this.#held = readDraft(await table.get(KEY), await this.#folded());
    const draft = this.#held;
    if (draft === null || this.#holds(draft)) return draft;
    this.#dropped(draft.cut, "outdated");
    this.#held = null;
    await table.drop(KEY);
    return null;
  }

  /** The summary that a draft goes on from. */
  async #folded(): Promise<Json> {
    const state = (await this.#options.thread.summaryState()) as { readonly summary?: Json } | null;
    return state?.summary ?? null;
  }

  #holds({ cut, print }: StoredDraft): boolean {
    return this.#print(cut) === print;
  }

  #print(cut: Cut): string {
    const { thread, policy, background } = this.#options;
    return fingerprint(thread, cut, policy, background.label ?? "");
  }

  #dropped(cut: Cut, reason: string): void {
    this.#options.on({ type: "draft-dropped", covers: cut.covers, reason });
  }
}

/** Kept as what it changes. A draft holds only for the summary it goes on from, so that one need not be in it. */
function draftText({ cut, print, written }: StoredDraft, folded: Json): string {
  const { state, ...rest } = written;
  return JSON.stringify({ cut, print, rest, changes: deltaOf(folded, JSON.parse(JSON.stringify(state)) as Json) });
}

function readDraft(stored: string | null, folded: Json): StoredDraft | null {
  try {
    const { cut, print, rest, changes } = JSON.parse(stored ?? "") as Pick<StoredDraft, "cut" | "print"> & {
      readonly rest: Omit<WrittenSummary, "state">;
      readonly changes: Delta;
    };
    const state = readState(applyDelta(folded, changes));
    return state === null || !Array.isArray(cut.covers) ? null : { cut, print, written: { ...rest, state } };
  } catch {
    return null;
  }
}

/*
 * When the next summary is worth drafting, and for which cut: one that lies before the cut which keep will want at the
 * trigger, and covers most of it. Pure. And what such a draft depends on, as one fingerprint.
 */

/** Of the way to the trigger, where drafting begins. */
const SOFT_SHARE = 0.75;
/** Of what will be hidden at the trigger, what a draft must cover; the rest is added by rules. */
const LEAST_COVER = 0.6;
/** For less the summarizer is not troubled twice. */
const LEAST_TOKENS = 800;
/** Of what is still to be said before the trigger, what surely will be. */
const SURE = 0.5;

/** Null: too early, or too little could be drafted now. */
function planDraft<M>(prompt: Prompt<M>, window: Window, policy: Policy): Cut | null {
  const { entries, factor, count } = prompt;
  const spoken = entries.filter(
    ({ source, role }) => source === "summary" || (role !== "system" && source !== "rules"),
  );
  const conversationTokens = spoken.reduce((sum, entry) => sum + entryTokens(entry, factor), 0);
  const outside = Math.max(0, count.tokens - conversationTokens);
  const limits = limitsOf(policy, window, outside);
  const fill = Math.max(
    conversationTokens / Math.max(1, limits.trigger - outside),
    limits.messages === null ? 0 : spoken.length / limits.messages.trigger,
  );
  if (fill < SOFT_SHARE || fill >= 1) return null;
  const growth = 1 / fill - 1;
  const sure = { tokens: conversationTokens * growth * SURE, messages: spoken.length * growth * SURE };
  const plan = planCompaction(prompt, {
    window,
    grown: null,
    prune: null,
    policy: { ...policy, keep: keepNow(policy.keep ?? longestTail(limits, outside), window, sure) },
    // The cut that keep asks for, whatever it gains now.
    cause: "manual",
  });
  if (plan.kind !== "compact" || plan.cut === null) return null;
  const fresh = plan.cut.hiddenTokens - foldedTokens(prompt);
  const enough = fresh >= LEAST_TOKENS && fresh >= LEAST_COVER * (fresh + conversationTokens * growth);
  return enough ? plan.cut : null;
}

/** Where no setting says what to keep: no cut at the trigger leaves more. */
function longestTail({ lowWater, maxSummary }: Limits, outside: number): Keep {
  return [{ type: "tokens", value: Math.max(1, lowWater - outside - maxSummary) }];
}

/** What is to be kept of what was said by now, when so much more will have been said. */
function keepNow(keep: Keep, window: Window, sure: { readonly tokens: number; readonly messages: number }): Keep {
  const less = ({ type, value }: Threshold): Threshold => {
    if (type === "messages") return { type, value: Math.max(1, value - Math.floor(sure.messages)) };
    const tokens = type === "fraction" ? value * window.size : value;
    return { type: "tokens", value: Math.max(1, Math.floor(tokens - sure.tokens)) };
  };
  return isCeilings(keep) ? keep.map(less) : less(keep);
}

/** Whether what was drafted is at least a third of what is to be hidden now: more is rarely said in one step. */
function covers<M>(drafted: Cut, wanted: Cut, prompt: Prompt<M>): boolean {
  const begins = drafted.covers[0] === wanted.covers[0] && drafted.covers[1] <= wanted.covers[1];
  const folded = foldedTokens(prompt);
  return begins && 3 * (drafted.hiddenTokens - folded) >= wanted.hiddenTokens - folded;
}

/** What the summary so far takes: it is folded into the next one, but not read again. */
function foldedTokens<M>({ entries, factor }: Prompt<M>): number {
  const folded = entries.filter(({ source }) => source === "summary" || source === "acknowledgement");
  return folded.reduce((sum, entry) => sum + entryTokens(entry, factor), 0);
}

/**
 * What a draft of this cut holds for. New messages and prunes leave it as it is; an undo, a pin or redaction in its range
 * and another compaction change it.
 */
function fingerprint<M>(thread: ThreadLog<M>, cut: Cut, policy: Policy, label: string): string {
  const last = cut.covers[1];
  const live = thread.live();
  const hash = createHash("sha256");
  const pins = thread.head().pins.filter((seq) => seq <= last);
  const versions = [PATCH_PROMPT_VERSION, PROSE_PROMPT_VERSION, label];
  const folded = live.compaction === null ? null : [live.compaction.seq, live.compaction.summary, summaryEdits(live)];
  hash.update(JSON.stringify([versions, policy, cut.covers, folded, pins]));
  for (const { seq, body } of live.tail) if (seq <= last) hash.update(`\n${seq} ${body}`);
  return hash.digest("hex");
}

/*
 * What is being prepared for one thread: finished chunks of a summary and the summary drafted ahead. A cache beside the
 * log: whatever can't be read or written is only done again, so its errors end here.
 */

/** A key may be as long as the prompt that it stands for. */
export interface DraftTable {
  get(key: string): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
  /** One draft, or all of them. */
  drop(key?: string): Promise<void>;
}

/** Where the store keeps no drafts, neither does the table: nothing is prepared ahead, and an interrupted summary starts anew. */
export function draftTable(drafts: Drafts | undefined, threadId: string, clock: () => Date): DraftTable {
  if (drafts === undefined) return { get: async () => null, put: async () => {}, drop: async () => {} };
  return {
    get: async (key) => (await drafts.get(threadId, named(key)).catch(() => undefined))?.value ?? null,
    async put(key, value) {
      await drafts.put(threadId, named(key), value, clock().toISOString()).catch(() => undefined);
    },
    drop: (key) => drafts.drop(threadId, key === undefined ? key : named(key)).catch(() => undefined),
  };
}

/** The key as the store keeps it: its first word, and a hash of what was asked. */
function named(key: string): string {
  const at = key.indexOf(" ");
  return at < 0
    ? key
    : `${key.slice(0, at)}-${createHash("sha256")
        .update(key.slice(at + 1))
        .digest("hex")}`;
}
