/**
 * How much of the evidence for a question memory puts into the prompt. `npm run bench -- memory FILE [--held-out FILE] [--large] [--json]`.
 * Turns go through a real store and its index, the dataset's own facts into a memory document kept beside them.
 *   atTokens   share of a question's evidence turns that the evidence lane shows within so many tokens (o200k), the turn itself or
 *              a fact drawn from it; mean over the questions
 *   turnsOnly  the same, counting only turns that are shown word for word
 *   stable     the same for the stable lane alone (its best 15 facts), and its tokens
 *   both       the two lanes together in a thread's first turn: of equally certain facts the block has those that bear on the question. The
 *              block has at most a fifth of the budget, as in a window of that size, and what it takes is charged to the budget
 *   bothLater  the same in a later turn: the block was chosen for another question
 *   msP95      gathering the evidence for one question at 1,000 tokens; `--large`: with 10,000 facts and 100,000 turns
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyDocument, type Fact, type MemoryDocument, renderMemory } from "@palimpsest/core/internal/memory";
import type { EvidenceRequest } from "palimpsest/internal/memory";
import { storeStorage } from "palimpsest/internal/memory";
import { createThread, withWriter } from "palimpsest/internal/threads";
import { appendMessages, threadDeps } from "palimpsest/session";
import { type FullStore, openSqlite } from "palimpsest/stores";
import { gatherEvidence } from "../packages/harness/src/features/memory/evidence.ts";
import { openRepository, relevanceTo } from "../packages/harness/src/features/memory/repository.ts";
import { exactCounter } from "../packages/harness/src/models/tokenizers.ts";
import { type Bench, onHeldOut, quantile, remembering } from "./bench.ts";
import { type Dialog, FIELDS, type Question, readDialogs, type Turn } from "./locomo.ts";

/** What the block has of a window's share for memory (repository.ts, evidence.ts). */
const BLOCK_SHARE = 1 / 5;
const BUDGETS = [500, 1_000, 2_000, 4_000] as const;

const bench: Bench = async ([path], options) => {
  const own = await figures(path, options["large"] === true);
  return { ...own, heldOut: await onHeldOut(options, ([file]) => figures(file, false)) };
};
export default bench;

async function figures(path: string | undefined, large: boolean) {
  const dialogs = readDialogs(path, "memory FILE [--large]");
  const count = remembering(await exactCounter("o200k_base"));
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-bench-memory-"));
  const store = openSqlite({ path: join(folder, "bench.db") });
  try {
    const times: number[] = [];
    const scores: Score[] = [];
    for (const [at, dialog] of dialogs.entries()) scores.push(...(await measure(store, dialog, at, { count, times })));
    return {
      ...summary(scores),
      without5: summary(scores.filter(({ category }) => category !== 5)),
      byCategory: Object.fromEntries(
        [...new Set(scores.map(({ category }) => category))].sort().map((category) => {
          const own = scores.filter((score) => score.category === category);
          return [category, { questions: own.length, ...summary(own) }];
        }),
      ),
      msP95: quantile(times, 0.95),
      ...(large ? { large: await timeLarge(store, dialogs, count) } : {}),
      questions: scores.length,
      fields: FIELDS,
    };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

interface Score {
  readonly category: number;
  readonly atTokens: readonly number[];
  readonly turnsOnly: readonly number[];
  readonly both: readonly number[];
  readonly bothLater: readonly number[];
  readonly stable: number;
  readonly stableTokens: number;
}

type Count = (text: string) => number;

async function measure(
  store: FullStore,
  dialog: Dialog,
  at: number,
  { count, times }: { readonly count: Count; readonly times: number[] },
): Promise<Score[]> {
  const userId = `user${at}`;
  await ingest(store, dialog.turns, { userId, threadId: `dialog${at}` });
  const document = await remember(store, userId, factsOf(dialog.turns, `dialog${at}`));
  const sources = new Map(document.facts.map((fact) => [fact.id, fact.sourceMessageIds ?? []]));
  const scores: Score[] = [];
  for (const [number, question] of dialog.questions.entries()) {
    const relevance = await relevanceTo(document, question.text);
    const other = await relevanceTo(document, dialog.questions[(number + 1) % dialog.questions.length]!.text);
    const stable = renderMemory(document, { tokens: 2_000, count, relevance });
    const gather = async (tokens: number, shown: readonly string[] = []) => {
      const started = performance.now();
      const asked = { ...request(question.text, { tokens, count }), shown: new Set(shown) };
      const evidence = await gatherEvidence(store.forUser(userId), document, asked);
      if (tokens === 1_000) times.push(performance.now() - started);
      return evidence?.ids ?? [];
    };
    const withBlock = async (tokens: number, chosenFor: ReadonlyMap<string, number>) => {
      const block = renderMemory(document, { tokens: tokens * BLOCK_SHARE, count, relevance: chosenFor });
      return [...block.factIds, ...(await gather(tokens - block.tokens, block.factIds))];
    };
    const [shown, both, later]: string[][][] = [[], [], []];
    for (const tokens of BUDGETS) {
      shown!.push([...(await gather(tokens))]);
      both!.push(await withBlock(tokens, relevance));
      later!.push(await withBlock(tokens, other));
    }
    scores.push({
      category: question.category,
      atTokens: shown!.map((ids) => share(question, ids, sources)),
      turnsOnly: shown!.map((ids) => share(question, ids, new Map())),
      both: both!.map((ids) => share(question, ids, sources)),
      bothLater: later!.map((ids) => share(question, ids, sources)),
      stable: share(question, stable.factIds, sources),
      stableTokens: stable.tokens,
    });
  }
  return scores;
}

/** Asked from a thread that has nothing of its own. */
function request(
  question: string,
  { tokens, count }: { readonly tokens: number; readonly count: Count },
): EvidenceRequest {
  return {
    question,
    agentName: "default",
    threadId: "asking",
    visibleAfter: 0,
    shown: new Set(),
    tokens,
    count,
  };
}

async function ingest(
  store: FullStore,
  turns: readonly Turn[],
  to: { readonly userId: string; readonly threadId: string },
) {
  const own = threadDeps(store.forUser(to.userId));
  await createThread(own, { id: to.threadId });
  const first = turns[0]?.speaker;
  const messages = turns.map(({ speaker, text, caption, at }) => ({
    ...({ dialect: "openai", origin: "import", at } as const),
    body: {
      role: speaker === first ? "user" : "assistant",
      name: speaker,
      content: caption === "" ? text : `${text} [image: ${caption}]`,
    },
  }));
  await withWriter(own, to.threadId, async (writer) => {
    for (let at = 0; at < messages.length; at += 500) await appendMessages(writer, messages.slice(at, at + 500));
  });
}

function factsOf(turns: readonly Turn[], threadId: string): Fact[] {
  const facts = new Map<string, Fact & { sourceMessageIds: string[] }>();
  for (const { facts: own, seq, at } of turns) {
    for (const content of own) {
      const fact = facts.get(content);
      if (fact) fact.sourceMessageIds.push(`${threadId}#${seq}`);
      else
        facts.set(content, {
          id: `f${facts.size + 1}`,
          content,
          category: "context",
          confidence: 0.9,
          createdAt: at,
          source: "conversation",
          sourceMessageIds: [`${threadId}#${seq}`],
        });
    }
  }
  return [...facts.values()];
}

async function remember(store: FullStore, userId: string, facts: readonly Fact[]): Promise<MemoryDocument> {
  const scope = { userId, agentName: null };
  const storage = storeStorage(store, "sqlite");
  await storage.save({ ...emptyDocument(), facts, revision: 1 }, { scope, expectRevision: 0 });
  return openRepository(storage, () => new Date()).read(scope);
}

function share(question: Question, ids: readonly string[], fact: ReadonlyMap<string, readonly string[]>): number {
  const refs = ids.flatMap((id) => (id.includes("#") ? [id] : (fact.get(id) ?? [])));
  const covered = new Set(refs.map((ref) => Number(ref.split("#")[1])));
  return question.evidence.filter((seq) => covered.has(seq)).length / question.evidence.length;
}

function summary(scores: readonly Score[]) {
  const mean = (pick: (score: Score) => number): number =>
    scores.reduce((sum, score) => sum + pick(score), 0) / Math.max(1, scores.length);
  const byBudget = (name: "atTokens" | "turnsOnly" | "both" | "bothLater") =>
    Object.fromEntries(BUDGETS.map((tokens, at) => [tokens, mean((score) => score[name][at]!)]));
  return {
    atTokens: byBudget("atTokens"),
    turnsOnly: byBudget("turnsOnly"),
    both: byBudget("both"),
    bothLater: byBudget("bothLater"),
    stable: { share: mean(({ stable }) => stable), tokens: mean(({ stableTokens }) => stableTokens) },
  };
}

/** The file's dialogs again and again, until there are 100,000 turns and 10,000 facts of one user. */
async function timeLarge(store: FullStore, dialogs: readonly Dialog[], count: Count) {
  const all = dialogs.flatMap(({ turns }) => turns);
  const userId = "large";
  for (let thread = 0; thread < 20; thread += 1) {
    const turns = Array.from({ length: 5_000 }, (_, i) => all[(thread * 5_000 + i) % all.length]!);
    await ingest(store, turns, { userId, threadId: `large${thread}` });
  }
  const pool = factsOf(all, "large0");
  const facts = Array.from({ length: 10_000 }, (_, i) => ({ ...pool[i % pool.length]!, id: `large${i}` }));
  const document = await remember(store, userId, facts);
  const times: number[] = [];
  for (const { text } of dialogs.flatMap(({ questions }) => questions).slice(0, 220)) {
    const started = performance.now();
    renderMemory(document, { tokens: 2_000, count });
    await gatherEvidence(store.forUser(userId), document, request(text, { tokens: 1_000, count }));
    times.push(performance.now() - started);
  }
  const warm = times.slice(20);
  return { turns: 100_000, facts: facts.length, msP50: quantile(warm, 0.5), msP95: quantile(warm, 0.95) };
}
