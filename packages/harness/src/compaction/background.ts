/**
 * Drafts the next summary while the conversation goes on, so that the trigger finds it ready and nobody waits. One draft
 * at a time; it is kept beside the log and committed only if it still holds. It never touches the thread, and whatever
 * goes wrong is an event, since the trigger can always do without.
 */

import type { Cut, Window, WrittenSummary } from "@palimpsest/core/compaction";
import { usableWindow } from "@palimpsest/core/internal/compaction";
import { applyDelta, deltaOf } from "@palimpsest/core/internal/log";
import { errorText } from "@palimpsest/core/internal/text";
import type { Delta, Json } from "@palimpsest/core/log";
import type { Prompt } from "@palimpsest/core/prompt";
import { readState } from "@palimpsest/core/summary";
import { untilAborted } from "../abort.ts";
import { covers, fingerprint, planDraft } from "./draft-plan.ts";
import type { DraftTable } from "./draft-table.ts";
import { type SummaryJobOptions, summaryJob } from "./summary-job.ts";
import type { EarlierSummary, SummaryStep } from "./write-summary.ts";

export interface BackgroundOptions {
  readonly table: DraftTable;
  /** What a draft depends on beside the conversation: the summarizer and its prompt. */
  readonly label?: string;
  /** `no`: finished parts of a summary are kept in the table, but none is earlier before it is needed. */
  readonly ahead?: "yes" | "no";
}

export interface Background<M> {
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

interface Draft extends EarlierSummary {
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
  open<M>(deps: BackgroundDeps<M>, summaryStep: SummaryStep): Background<M>;
}

export function drafting(background: BackgroundOptions): OpenBackground {
  return {
    table: background.table,
    open: (deps, summaryStep) => new Drafting({ ...deps, background }, summaryStep),
  };
}

class Drafting<M> implements Background<M> {
  readonly #options: Setting<M>;
  readonly #summaryStep: SummaryStep;
  #stop = new AbortController();
  #work: Promise<void> | null = null;
  /** The cut being summarized. */
  #covering: Cut | null = null;
  /** Undefined: the table was not asked yet. */
  #held: Draft | null | undefined;
  /** After a draft that came to nothing, the next one waits for growth. */
  #restUntil = 0;

  constructor(options: Setting<M>, summaryStep: SummaryStep) {
    this.#options = options;
    this.#summaryStep = summaryStep;
  }

  consider(prompt: Prompt<M>): void {
    const { background, conversation, policy } = this.#options;
    const { tokens } = prompt.count;
    if (background.ahead === "no" || policy.style === "rollover") return;
    if (this.#work !== null || tokens < this.#restUntil) return;
    // Who took a compaction back does not want the next one prepared.
    if (conversation.head().undone !== null) return;
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

  async #current(): Promise<Draft | null> {
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
    const state = (await this.#options.conversation.state()) as { readonly summary?: Json } | null;
    return state?.summary ?? null;
  }

  #holds({ cut, print }: Draft): boolean {
    return this.#print(cut) === print;
  }

  #print(cut: Cut): string {
    const { conversation, policy, background } = this.#options;
    return fingerprint(conversation, cut, policy, background.label ?? "");
  }

  #dropped(cut: Cut, reason: string): void {
    this.#options.on({ type: "draft-dropped", covers: cut.covers, reason });
  }
}

/** Kept as what it changes. A draft holds only for the summary it goes on from, so that one need not be in it. */
function draftText({ cut, print, written }: Draft, folded: Json): string {
  const { state, ...rest } = written;
  return JSON.stringify({ cut, print, rest, changes: deltaOf(folded, JSON.parse(JSON.stringify(state)) as Json) });
}

function readDraft(stored: string | null, folded: Json): Draft | null {
  try {
    const { cut, print, rest, changes } = JSON.parse(stored ?? "") as Pick<Draft, "cut" | "print"> & {
      readonly rest: Omit<WrittenSummary, "state">;
      readonly changes: Delta;
    };
    const state = readState(applyDelta(folded, changes));
    return state === null || !Array.isArray(cut.covers) ? null : { cut, print, written: { ...rest, state } };
  } catch {
    return null;
  }
}
