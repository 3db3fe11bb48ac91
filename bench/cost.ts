/**
 * What a policy costs and what its agent still knows. `npm run bench -- cost FILE [--json]`, FILE a session (one message a
 * line) or dialogs (one conversation a line).
 *   cost             with the provider's cache, as a share of never-prune; fetching again and summarizer calls included
 *   known            share of the distant uses (a name or error line last seen more than 20 messages ago) still in the prompt
 *   knownWithRecall  the same, or found among the first five hits of a search over everything said
 *   peak             the largest request in tokens; rereads: results that had to be fetched again
 * `policies` is the file as one conversation (dialogs: all of them together); `segments` each part of a session that fitted
 * one window when it was recorded. Prices are relative: read 0.1, write 1.25, output 5, 5 minutes to live.
 */
import { RELATIVE_PRICES } from "@palimpsest/core/pricing";
import { ours, RECALL_HITS } from "palimpsest/internal/lab";
import type { Played, Transcript } from "palimpsest/lab";
import { batchPrune, maskEachStep, neverPrune, summarizeAt } from "../packages/harness/src/lab/policies.ts";
import { play } from "../packages/harness/src/lab/simulate.ts";
import type { Bench } from "./bench.ts";
import { readTranscripts } from "./cost/transcript.ts";

const WINDOW = 200_000;

const POLICIES = [
  neverPrune,
  maskEachStep(10),
  batchPrune(40_000, 20_000, 0),
  batchPrune(10_000, 30_000, 60_000),
  summarizeAt(WINDOW, 0.85, 6),
  ours(WINDOW),
];

const bench: Bench = async ([path]) => {
  const { whole, segments } = readTranscripts(path, "cost FILE");
  const rows = [];
  for (const segment of segments) rows.push({ name: segment.name, policies: await compare([segment]) });
  const mean = rows.reduce((sum, { policies }) => sum + policies.at(-1)!.cost, 0) / Math.max(1, rows.length);
  return {
    policies: await compare(whole),
    segments: rows,
    ...(rows.length > 0 ? { oursMeanOfSegments: mean } : {}),
  };
};
export default bench;

async function compare(transcripts: readonly Transcript[]) {
  const base = await playAll(transcripts, neverPrune);
  const rows = [];
  for (const policy of POLICIES) {
    const played = await playAll(transcripts, policy);
    const shares = played.map(({ cost }, index) => cost / (base[index]!.cost || 1));
    const total = (figure: Exclude<keyof Played, "timeline">): number =>
      played.reduce((sum, one) => sum + one[figure], 0);
    const questions = total("asked");
    rows.push({
      name: policy.name,
      cost: total("cost") / (base.reduce((sum, { cost }) => sum + cost, 0) || 1),
      ...(transcripts.length > 1 ? { worst: Math.max(...shares) } : {}),
      known: questions === 0 ? 1 : total("known") / questions,
      knownWithRecall: questions === 0 ? 1 : (total("known") + total("recalled")) / questions,
      peak: Math.max(...played.map(({ peak }) => peak)),
      rereads: total("rereads"),
      breaks: total("breaks"),
      summarizerCalls: total("summarizerCalls"),
      asked: questions,
    });
  }
  return rows;
}

async function playAll(transcripts: readonly Transcript[], policy: (typeof POLICIES)[number]): Promise<Played[]> {
  const played: Played[] = [];
  for (const transcript of transcripts)
    played.push(await play(transcript, policy, { prices: RELATIVE_PRICES, hits: RECALL_HITS }));
  return played;
}
