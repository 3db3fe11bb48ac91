/**
 * Brings memory into a run and the run into memory: the stable block into the system prompt, evidence into the question,
 * and after the run a job for the updater. It never stops a run: trouble with memory is an event, and the run goes on
 * without it.
 */
import { asksNothing, extractInput, type MemoryDocument } from "@palimpsest/core/internal/memory";
import { aiSdkShape } from "@palimpsest/core/internal/message";
import { errorText } from "@palimpsest/core/internal/text";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { LeaseLostError } from "../../agent/errors.ts";
import type { PromptSection } from "../../agent/fixed-part.ts";
import type { Middleware, Run } from "../../agent/run.ts";
import { ClaimRefused } from "../../stores/leases.ts";
import { evidenceBudget, gatherEvidence, stillThere } from "./evidence.ts";
import type { MemoryQueue } from "./queue.ts";
import {
  blockBudget,
  checkScope,
  frozenIn,
  newestByHand,
  type Repository,
  relevanceTo,
  stableLane,
} from "./repository.ts";
import { correctedHits, DROP_EVIDENCE, isOutdated } from "./source-turns.ts";
import type { MemoryEvent } from "./storage.ts";

declare module "../../agent/features.ts" {
  interface FeatureEvents {
    readonly memory: MemoryEvent;
  }
}

export interface MemoryMiddlewareOptions {
  readonly repository: Repository;
  /** Off: what is remembered stays out of the prompt, and learning goes on. */
  readonly injection?: "on" | "off" | undefined;
  /** The most for the `<memory>` block: 2,000, and in windows under 128,000 a sixty-fourth of the window unless it is given. */
  readonly maxInjectionTokens?: number | undefined;
  /** The most for one question (1,000); a small window allows less. */
  readonly evidenceTokens?: number | undefined;
  readonly count?: (text: string) => number;
  /** Takes turns for learning; without it nothing is learned. */
  readonly queue?: Pick<MemoryQueue, "job" | "queued" | "makeDue"> & Partial<Pick<MemoryQueue, "stop">>;
}

export function memory(options: MemoryMiddlewareOptions): Middleware {
  const { injection = "on", evidenceTokens = 1000, queue } = options;
  // At which compaction a run's question was looked up.
  const searched = new WeakMap<Run, number | null>();
  const lookUp = async (run: Run): Promise<void> => {
    if (injection === "off" || evidenceTokens === 0 || !remembers(run)) return;
    const again = searched.has(run);
    const { compaction } = run.thread.head();
    if (again && searched.get(run) === compaction) return;
    searched.set(run, compaction);
    await attempt(run, () => addEvidence(run, options, again ? "again" : "first"), undefined);
  };
  return {
    name: "memory",
    async prompt(run) {
      if (!remembers(run)) return [];
      await makeDueAfterCompaction(run, queue);
      if (injection === "off") return [];
      const section = await attempt(run, () => stableSection(run, options), frozenSection(run));
      // A compaction in mid-run hides what the question may be about.
      if (searched.has(run)) await lookUp(run);
      return section;
    },
    async corrected(hits, run) {
      const none: Awaited<ReturnType<typeof correctedHits>> = new Map();
      if (!remembers(run)) return none;
      return attempt(run, async () => correctedHits(run.deps.store, await readDocument(run, options), hits), none);
    },
    beforeAgent: lookUp,
    jobs(run, throughSeq) {
      if (queue === undefined || !remembers(run) || turnOf(run).content === "trivial") return [];
      return [queue.job({ agentName: run.agentName, throughSeq })];
    },
    close: async () => queue?.stop?.(),
    writesLast: () => false,
    async afterAgent(run, end) {
      if (queue === undefined || !remembers(run) || end.kind !== "answered") return;
      const { turns, content } = turnOf(run);
      if (content === "informative")
        queue.queued({ userId: run.userId, threadId: run.threadId }, turns.length, run.emit);
    },
  };
}

/** A compaction hides what was said: what is to be learned from it is learned at once. */
async function makeDueAfterCompaction(run: Run, queue: MemoryMiddlewareOptions["queue"]): Promise<void> {
  const head = run.thread.head();
  const lastCompaction = frozenIn(head)?.compaction ?? null;
  if (queue === undefined || head.compaction === null || head.compaction === lastCompaction) return;
  await attempt(run, () => queue.makeDue({ userId: run.userId, threadId: run.threadId }), undefined);
}

/** What of this run's own turn may be learned from. */
function turnOf({ thread, threadId, question }: Run) {
  const own = thread.live().tail.filter(({ seq }) => seq >= (question ?? 0));
  return extractInput(own, { threadId });
}

function remembers({ thread }: Run): boolean {
  return thread.header.memory === "on" && thread.header.kind === "main";
}

async function stableSection(run: Run, options: MemoryMiddlewareOptions): Promise<PromptSection[]> {
  const { thread, deps, threadId } = run;
  const { maxInjectionTokens: tokens = blockBudget(run.window()), count = charsPerToken(4) } = options;
  const started = deps.clock().getTime();
  const document = await readDocument(run, options);
  const stable = stableLane(thread.head(), document, {
    now: deps.clock(),
    whenIdle: run.bindsReasoning ? "keep" : "render",
    tokens,
    count,
    relevance: await relevanceTo(document, run.asked),
  });
  const { text, factIds, tokens: spent } = stable.frozen;
  if (stable.kind === "rendered") {
    const [seq] = await run.commit([{ kind: "state", patch: { memory: stable.frozen } }]);
    // Somebody may have erased a fact since it was read, and can't have found it here yet.
    if (text !== "" && newestByHand(await readDocument(run, options)) !== stable.frozen.manual) {
      const patch = { memory: null };
      await run.commit([{ kind: "state", patch }], { erase: [{ seq: seq!, body: JSON.stringify(patch) }] });
      return stableSection(run, options);
    }
    const hash = deps.hash(text);
    const ms = deps.clock().getTime() - started;
    const found = { lane: "stable", ids: factIds, tokens: spent, hash, ms } as const;
    if (text !== "") run.emit({ type: "memory-injected", threadId, ...found });
  }
  return text === "" ? [] : [{ slot: "memory", text }];
}

/** What the thread last showed, for when memory can't be read. */
function frozenSection(run: Run): PromptSection[] {
  const text = frozenIn(run.thread.head())?.text ?? "";
  return text === "" ? [] : [{ slot: "memory", text }];
}

/** Once per question and compaction: a run that goes on after a crash finds the record already there. */
async function addEvidence(run: Run, options: MemoryMiddlewareOptions, time: "first" | "again"): Promise<void> {
  const { thread, deps, question, threadId } = run;
  const started = deps.clock().getTime();
  const live = thread.live();
  const record = live.tail.find(({ seq }) => seq === question);
  if (record === undefined || (time === "first" && live.evidence.some(({ of }) => of === question))) return;
  const parts = aiSdkShape.parts(thread.original(record));
  const words = parts.map((part) => (part.kind === "text" ? part.text : "")).join("\n");
  const head = thread.head();
  // Where nothing is hidden the prompt holds all that was said here; other threads matter to what is asked.
  if (head.hiddenThrough === 0 && asksNothing(words)) return;
  const document = await readDocument(run, options);
  if (isOutdated(document, live.evidence)) await run.commit([DROP_EVIDENCE]);
  const earlier = thread.live().evidence;
  const count = options.count ?? charsPerToken(4);
  const current = earlier.reduce((sum, { text }) => sum + count(text), 0);
  const evidence = await gatherEvidence(deps.store, document, {
    question: words,
    agentName: run.agentName,
    threadId,
    visibleAfter: head.hiddenThrough,
    shown: new Set([...(frozenIn(head)?.factIds ?? []), ...earlier.flatMap(({ ids }) => ids)]),
    earlier: earlier.map(({ text }) => text),
    tokens: evidenceBudget({ limit: options.evidenceTokens ?? 1000, window: run.window(), current }),
    count,
    tools: deps.tools,
    embedder: deps.embedder,
    onEmbedding: deps.onEmbedding,
  });
  if (evidence === null) return;
  const { text, ids, tokens } = evidence;
  const hash = deps.hash(text);
  const [seq] = await run.commit([{ kind: "evidence", of: record.seq, text, ids, hash }]);
  if (!(await stillThere(deps.store, await readDocument(run, options), ids))) {
    await run.commit([], { erase: [{ seq: seq!, body: JSON.stringify("[redacted]") }] });
    return;
  }
  const ms = deps.clock().getTime() - started;
  const found = { lane: "evidence", ids, tokens, hash, ms } as const;
  run.emit({ type: "memory-injected", threadId, ...found });
}

async function readDocument(run: Run, { repository }: MemoryMiddlewareOptions): Promise<MemoryDocument> {
  const checked = checkScope(run.userId, run.agentName);
  if (checked.kind === "invalid") throw new Error(`${checked.problem}: nothing is remembered for it`);
  return repository.view(checked.scope);
}

/** A lost lease ends the run, and a refused claim lets it begin anew: those are its affair. Everything else is only memory's. */
async function attempt<T>(run: Run, work: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LeaseLostError || error instanceof ClaimRefused) throw error;
    const reason = errorText(error);
    run.emit({ type: "memory-failed", threadId: run.threadId, reason });
    return otherwise;
  }
}
