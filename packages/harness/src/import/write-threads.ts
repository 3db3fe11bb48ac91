/**
 * Writes pieces into new threads. A conversation is written in one transaction with its receipt; only one that is too
 * large to be held is written in several, each of which says how far it is, so that a second run goes on there. Forks and
 * sub-agents follow the thread they belong to.
 */
import type { ThreadHeader } from "@palimpsest/core/internal/log";
import type { Dialect } from "@palimpsest/core/internal/message";
import { fork, withWriter } from "../thread/acts.ts";
import type { TitleLimits } from "../thread/title.ts";
import { commit, createThread, type RecordInput, type ThreadDeps } from "../thread/writer.ts";
import { HeadTrail } from "./head-trail.ts";
import type { ImportedThread, ImportPiece } from "./piece.ts";
import { NOTHING_STORED, type Stored, ThreadDraft } from "./thread-draft.ts";

/** A thread to be written. */
declare module "../thread/thread-view.ts" {
  interface ThreadState {
    /** An import that is under way: which, and how far it has come. Null once it has ended. */
    readonly importing?: { readonly digest: string; readonly part: number; readonly pieces: number };
    /** The program and the session it was imported from; of a synced file also how far it was read. */
    readonly source?: { readonly size?: number; readonly modified?: number; readonly pieces?: number };
  }
}

export interface ThreadJob {
  readonly opened: ImportedThread;
  readonly threadId: string;
  readonly receipt: Receipt;
  /** How far an earlier run of the same import has come with it. */
  readonly before: Before;
}

export interface Receipt {
  readonly type: "imported";
  readonly digest: string;
  readonly part: number;
  readonly [detail: string]: unknown;
}

type Before =
  | { readonly kind: "free" }
  /** All of it, or some: then the thread is there. */
  | { readonly kind: "done" | "begun"; readonly stored: Stored };

export interface WriteOptions {
  readonly dialect: Dialect;
  readonly title: TitleLimits | null;
  readonly agentName?: string | undefined;
  /** Of the new threads' headers. */
  readonly memory: ThreadHeader["memory"];
  /** Characters of messages that may wait: more is written before its thread has ended. */
  readonly waiting: number;
  /** The same in records: a transaction of many keeps a server's other work waiting. */
  readonly recordsAtOnce: number;
  /** Between two steps. It may throw: what is written stays, and the same import goes on there. */
  readonly pause: () => Promise<void>;
  /** After each thread. */
  readonly onThread: () => Promise<void>;
}

export type Written = { readonly kind: "written" } | { readonly kind: "exists" | "busy"; readonly threadId: string };

export async function writeThreads(
  deps: ThreadDeps,
  jobs: readonly ThreadJob[],
  pieces: AsyncIterable<readonly ImportPiece[]>,
  options: WriteOptions,
): Promise<Written> {
  const writer = new ThreadsWriter(deps, jobs, options);
  for await (const batch of pieces) {
    for (const piece of batch) {
      writer.add(piece);
      if (piece.kind === "end") await writer.finish(piece.key);
    }
    await writer.makeRoom();
    if (writer.failure !== null) return writer.failure;
    await options.pause();
  }
  await writer.finish();
  return writer.failure ?? { kind: "written" };
}

interface OpenImport {
  readonly job: ThreadJob;
  readonly draft: ThreadDraft;
  /** Its heads, for those that fork it. */
  trail: HeadTrail | null;
  /** The key of the thread that it goes with. */
  readonly family: string;
  isThere: boolean;
  /** More of it than a fork has from its start. */
  isBegun: boolean;
}

class ThreadsWriter {
  failure: Exclude<Written, { kind: "written" }> | null = null;
  readonly #deps: ThreadDeps;
  readonly #jobs: ReadonlyMap<string, ThreadJob>;
  readonly #options: WriteOptions;
  readonly #open = new Map<string, OpenImport>();

  constructor(deps: ThreadDeps, jobs: readonly ThreadJob[], options: WriteOptions) {
    this.#deps = deps;
    this.#jobs = new Map(jobs.map((job) => [job.opened.key, job]));
    this.#options = options;
  }

  add(piece: ImportPiece): void {
    if (piece.kind === "thread") this.#begin(piece);
    else if ("key" in piece && piece.kind !== "end") this.#open.get(piece.key)?.draft.add(piece);
  }

  /** Writes the thread and those that go with it, or all that are left. */
  async finish(key?: string): Promise<void> {
    const ended = [...this.#open].filter(([, { family }]) => key === undefined || family === key);
    for (const [, open] of ended) await this.#inTurn(open, "whole");
    for (const [name] of ended) this.#open.delete(name);
  }

  async makeRoom(): Promise<void> {
    const drafts = [...this.#open.values()].map(({ draft }) => draft);
    const length = drafts.reduce((sum, draft) => sum + draft.length, 0);
    const records = drafts.reduce((sum, draft) => sum + draft.waiting, 0);
    if (length <= this.#options.waiting && records <= this.#options.recordsAtOnce) return;
    for (const open of this.#open.values()) await this.#inTurn(open, "begun");
  }

  #begin(opened: ImportedThread): void {
    const job = this.#jobs.get(opened.key);
    if (job === undefined) return;
    const parent = this.#parentOf(job);
    const stored = job.before.kind === "free" ? NOTHING_STORED : job.before.stored;
    const draft = new ThreadDraft(opened, {
      dialect: this.#options.dialect,
      ids: this.#deps.ids,
      stored,
      parent: opened.fork === null ? undefined : parent?.draft,
    });
    const family = parent?.family ?? opened.key;
    const isBegun = job.before.kind !== "free";
    this.#open.set(opened.key, { job, draft, family, trail: null, isThere: isBegun, isBegun });
  }

  /** A conversation may have thousands of branches. */
  async #inTurn(open: OpenImport, extent: "whole" | "begun"): Promise<void> {
    if (this.failure !== null) return;
    await this.#options.pause();
    await this.#write(open, extent);
  }

  /** `begun`: more will follow. */
  async #write(open: OpenImport, extent: "whole" | "begun"): Promise<void> {
    const { job, draft } = open;
    if (job.before.kind === "done") return;
    if (extent === "whole") draft.end();
    const isFork = job.opened.fork !== null && this.#parentOf(open.job) !== undefined;
    if (isFork && !open.isThere && !(await this.#fork(open))) return;
    const { digest, part } = job.receipt;
    const progress = { digest, part, pieces: draft.pieces };
    const inputs = [...draft.takeRecords()];
    const records = inputs.length;
    if (extent === "begun" && records === 0 && open.isThere) return;
    if (extent === "begun") inputs.push({ kind: "state", patch: { importing: progress } });
    else {
      const title = draft.title(this.#options.title);
      const state = { ...(title !== "" && { title }), ...(open.isThere && { importing: null }) };
      if (Object.keys(state).length > 0) inputs.push({ kind: "state", patch: state });
      inputs.push({ kind: "event", event: job.receipt });
    }
    draft.passRecords(inputs.length - records);
    const bulk = extent === "begun" ? "more" : open.isBegun ? "last" : undefined;
    const deps = { ...this.#deps, bulk } as const;
    const written = open.isThere ? await this.#append(deps, job, inputs) : await this.#create(deps, open, inputs);
    open.isThere = true;
    open.isBegun = true;
    if (written !== "written") this.failure = { kind: written, threadId: job.threadId };
    else if (extent === "whole") await this.#options.onThread();
  }

  #parentOf({ opened }: ThreadJob): OpenImport | undefined {
    const from = opened.fork?.of ?? opened.childOf;
    return from === null ? undefined : this.#open.get(from);
  }

  async #fork(open: OpenImport): Promise<boolean> {
    const { job, draft } = open;
    const parent = this.#parentOf(open.job)!;
    const { digest, part } = job.receipt;
    const forked = await fork(this.#deps, parent.job.threadId, {
      as: job.threadId,
      at: parent.draft.seqAfter(job.opened.fork!.after),
      headsAt: this.#trailOf(parent),
      state: { importing: { digest, part, pieces: 0 } },
    });
    if (forked.kind !== "forked") {
      this.failure = { kind: "exists", threadId: job.threadId };
      return false;
    }
    draft.standAt((await this.#deps.store.head(job.threadId))!.version);
    open.isThere = true;
    return true;
  }

  #trailOf(open: OpenImport): HeadTrail {
    const missing: OpenImport[] = [];
    for (let one: OpenImport | undefined = open; one?.trail === null; one = this.#forkedFrom(one)) missing.push(one);
    for (const one of missing.toReversed()) {
      const from = this.#forkedFrom(one);
      const seq = from?.draft.seqAfter(one.job.opened.fork!.after) ?? 0;
      const base = from === undefined ? null : { trail: from.trail!, seq };
      one.trail = new HeadTrail(this.#deps.store, one.job.threadId, base);
    }
    return open.trail!;
  }

  #forkedFrom({ job }: OpenImport): OpenImport | undefined {
    return job.opened.fork === null ? undefined : this.#open.get(job.opened.fork.of);
  }

  async #create(
    deps: ThreadDeps,
    open: OpenImport,
    inputs: readonly RecordInput[],
  ): Promise<"written" | "exists" | "busy"> {
    const { job } = open;
    const { agentName, memory } = this.#options;
    const parent = this.#parentOf(open.job);
    const header = {
      id: job.threadId,
      agentName,
      memory,
      ...(parent !== undefined && { kind: "subagent" as const, parent: parent.job.threadId }),
    };
    if ((await createThread(deps, header, inputs)) === "created") return "written";
    // It may be one that nothing was ever said in.
    return this.#append(deps, job, inputs, 0);
  }

  async #append(
    deps: ThreadDeps,
    { threadId, receipt }: ThreadJob,
    inputs: readonly RecordInput[],
    version?: number,
  ): Promise<"written" | "exists" | "busy"> {
    const result = await withWriter(
      deps,
      threadId,
      async (writer) => {
        const head = await deps.store.head(threadId);
        return version === undefined || head?.version === version ? commit(writer, inputs) : null;
      },
      // The same owner when run again: a killed import doesn't keep itself out.
      { owner: `import-${receipt.digest}` },
    );
    if (result.kind !== "done") return "busy";
    return result.value?.kind === "committed" ? "written" : "exists";
  }
}
