/**
 * What a policy costs and what its agent still sees. `npm run bench -- cost FILE [--held-out FILE] [--provider openai]
 * [--only ours] [--json]`, FILE a session (one message a line) or dialogs (one conversation a line).
 *   cost        with the provider's cache as its documentation says, as a share of never-prune; what is missing is fetched
 *               again in a request of its own and carried from then on, summarizer calls are paid
 *   unfetched   the same if nothing were fetched
 *   known       before any fetch: of the paths, identifiers and lines that the model used and that were last seen more than
 *               20 messages before, the share in the prompt, word for word; known5 and known50 at other distances
 *   messages    share of the messages with such uses that had all of them; edits: of the texts that edits replace, whole
 *   strict      known, if what stubs say doesn't count
 *   floor       beside the policies: the cost if each tool result were gone for nothing once it is answered, and all else kept
 *   peak        the largest request in tokens; over: requests larger than the window, which could not have been sent
 * Rows named ours* and the rivals at several settings: the best of a sweep is flattered, ours stands at its defaults.
 * `segments`: the parts of a session that each fitted one window when it was recorded; pruning was tuned on the first.
 */
import { type Prices, RELATIVE_PRICES } from "@palimpsest/core/internal/pricing";
import type { Played, Policy, Transcript } from "@palimpsest/lab";
import { ours, RECALL_HITS } from "@palimpsest/lab/internal/replay";
import { summarizationFromOptions } from "../packages/harness/src/compaction/summarization.ts";
import { batchPrune, maskEachStep, neverPrune, summarizeAt } from "../packages/lab/src/replay/policies.ts";
import type { CacheRules } from "../packages/lab/src/replay/provider-cache.ts";
import type { QuestionShare, Scores } from "../packages/lab/src/replay/questions.ts";
import { type PlayedCount, play } from "../packages/lab/src/replay/simulate.ts";
import { type Bench, BenchInputError, onHeldOut } from "./bench.ts";
import { floorWithoutResults } from "./cost/floor.ts";
import { readTranscripts } from "./cost/transcript.ts";

const WINDOW = 200_000;

/** Shares of an input token's price: Anthropic's models of today, OpenAI's GPT-5. */
const OPENAI: Prices = { input: 1, cacheRead: 0.1, cacheWrite: 1, output: 8, ttlMs: 10 * 60_000 };
const PROVIDERS: Readonly<Record<string, CacheRules>> = {
  anthropic: { prices: RELATIVE_PRICES, reads: "marks" },
  openai: { prices: OPENAI, reads: "prefix" },
};

const POLICIES: readonly Policy[] = [
  ours(WINDOW),
  neverPrune,
  summarizeAt(WINDOW, 0.85, 6),
  ...[0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.7, 0.85].map((share) => summarizeAt(WINDOW, share, 6, "cached-prefix")),
  ...[0.25, 0.35, 0.45].map((share) => summarizeAt(WINDOW, share, 20, "cached-prefix")),
  batchPrune(40_000, 20_000, 0),
  batchPrune(20_000, 20_000, 0),
  batchPrune(10_000, 10_000, 30_000),
  batchPrune(10_000, 30_000, 60_000),
  maskEachStep(10),
  oursWith(4_000, 5_000),
  oursWith(16_000, 20_000),
  oursWith(30_000, 20_000),
];

const bench: Bench = async ([path], options) => {
  const name = options["provider"] ?? "anthropic";
  const provider = PROVIDERS[String(name)];
  if (provider === undefined) throw new BenchInputError("--provider: give anthropic or openai.");
  const policies = options["only"] === "ours" ? POLICIES.slice(0, 1) : POLICIES;
  const on = (file: string | undefined) => measure(file, policies, provider);
  return { provider: name, ...(await on(path)), heldOut: await onHeldOut(options, ([file]) => on(file)) };
};
export default bench;

async function measure(path: string | undefined, policies: readonly Policy[], provider: CacheRules) {
  const { whole, segments } = readTranscripts(path, "cost FILE");
  const parts = [];
  for (const segment of segments.length > 1 ? segments : [])
    parts.push({ name: segment.name, ...(await compare([segment], policies, provider)) });
  return { ...(await compare(whole, policies, provider)), segments: parts };
}

function oursWith(protectTokens: number, minGainTokens: number): Policy {
  const settings = summarizationFromOptions({ prune: { protectTokens, minGainTokens } });
  return ours(WINDOW, settings, `ours, protect ${protectTokens / 1000}k, minimum ${minGainTokens / 1000}k`);
}

async function compare(transcripts: readonly Transcript[], policies: readonly Policy[], provider: CacheRules) {
  const base = await playAll(transcripts, neverPrune, provider, "never");
  const all = costOf(base);
  const rows = [];
  for (const policy of policies) {
    const played = await playAll(transcripts, policy, provider, "always");
    const alone = await playAll(transcripts, policy, provider, "never");
    const shares = played.map(({ cost }, index) => cost / (base[index]!.cost || 1));
    rows.push({
      name: policy.name,
      cost: costOf(played) / (all || 1),
      ...(transcripts.length > 1 ? { worst: Math.max(...shares) } : {}),
      unfetched: costOf(alone) / (all || 1),
      ...knowledge(alone),
      fetches: total(played, "rereads"),
      peak: Math.max(...alone.map(({ peak }) => peak)),
      over: alone.flatMap(({ timeline }) => timeline).filter(({ parts }) => sum(Object.values(parts)) > WINDOW).length,
      passes: total(alone, "compactions"),
      summarizerCalls: total(alone, "summarizerCalls"),
      requests: total(alone, "requests"),
    });
  }
  const floor = sum(transcripts.map((transcript) => floorWithoutResults(transcript, provider.prices))) / (all || 1);
  return { floor, policies: rows };
}

function knowledge(played: readonly Played[]) {
  const share = (of: (scores: Scores) => QuestionShare, from: "scores" | "strict" = "scores"): number => {
    const shares = played.map((one) => of(one[from]));
    const used = sum(shares.map((each) => each.used));
    return used === 0 ? 1 : sum(shares.map(({ visible }) => visible)) / used;
  };
  return {
    known: share(({ distances }) => distances[20]),
    known5: share(({ distances }) => distances[5]),
    known50: share(({ distances }) => distances[50]),
    paths: share(({ kinds }) => kinds.path),
    identifiers: share(({ kinds }) => kinds.identifier),
    lines: share(({ kinds }) => kinds.line),
    messages: share(({ messages }) => messages),
    edits: share(({ edits }) => edits),
    distantEdits: share(({ kinds }) => kinds.edit),
    strict: share(({ distances }) => distances[20], "strict"),
    uses: sum(played.map(({ scores }) => scores.distances[20].used)),
  };
}

async function playAll(
  transcripts: readonly Transcript[],
  policy: Policy,
  provider: CacheRules,
  fetches: "always" | "never",
): Promise<Played[]> {
  const played: Played[] = [];
  for (const transcript of transcripts)
    played.push(await play(transcript, policy, { provider, hits: RECALL_HITS, fetches }));
  return played;
}

function costOf(played: readonly Played[]): number {
  return sum(played.map(({ cost }) => cost));
}

function total(played: readonly Played[], figure: PlayedCount): number {
  return sum(played.map((one) => one[figure]));
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
