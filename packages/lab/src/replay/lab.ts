/**
 * The lab: transcripts replayed under several policies side by side, without a model or a network. What each would have
 * cost with the provider's cache, what its agent would still have known, and whether its requests were valid.
 */
import { type Prices, RELATIVE_PRICES } from "@palimpsest/core/internal/pricing";
import type { Policy } from "./policy.ts";
import { type Played, type PlayedCount, play } from "./simulate.ts";
import type { Transcript } from "./transcript.ts";

export interface LabOptions {
  readonly transcripts: readonly Transcript[];
  readonly policies: readonly Policy[];
  readonly window: number;
  readonly prices?: Prices;
  /** Whether the provider reads its cache only at marks, as Anthropic does, or any prefix, as OpenAI does; `marks` unless given. */
  readonly reads?: "marks" | "prefix";
  /** How many hits of a search count as found; 5 unless given. */
  readonly hits?: number;
  /** After each transcript under each policy: from 0 to 1. */
  readonly onProgress?: (done: number, policy: string) => void;
  readonly signal?: AbortSignal;
}

export const RECALL_HITS = 5;

export interface LabRow {
  readonly name: string;
  /** As a share of what never pruning would have cost. */
  readonly cost: number;
  readonly requests: number;
  readonly tokens: number;
  /** Share of the distant uses still in the prompt, and with those that recall finds; null without such uses. */
  readonly known: number | null;
  readonly knownWithRecall: number | null;
  /** Share of the evidence of the files' own questions in the last prompt, and with what recall finds; null without questions. */
  readonly evidence: number | null;
  readonly evidenceWithRecall: number | null;
  readonly violations: number;
  readonly compactions: number;
  /** Summarizer calls: each is a wait. */
  readonly waits: number;
  /** Share of all tokens sent that the provider's cache held. */
  readonly reuse: number;
  readonly peak: number;
  /** Requests larger than the window. */
  readonly overWindow: number;
  readonly rereads: number;
  readonly timelines: readonly Played["timeline"][];
}

export interface LabReport {
  readonly window: number;
  readonly hits: number;
  readonly transcripts: readonly {
    readonly name: string;
    readonly messages: number;
    readonly repairs: number;
    readonly questions: number;
    readonly unasked: number;
  }[];
  readonly policies: readonly LabRow[];
}

export async function runLab(options: LabOptions): Promise<LabReport> {
  const { transcripts, policies, window, hits = RECALL_HITS, prices = RELATIVE_PRICES, reads = "marks" } = options;
  const rows: LabRow[] = [];
  let steps = 0;
  const playAll = async (policy: Policy): Promise<Played[]> => {
    const played: Played[] = [];
    for (const transcript of transcripts) {
      options.signal?.throwIfAborted();
      played.push(await play(transcript, policy, { provider: { prices, reads }, hits }));
      options.onProgress?.(++steps / ((policies.length + 1) * transcripts.length), policy.name);
      // Long work in one piece would leave Ctrl-C and the progress bar waiting.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return played;
  };
  const whole = (await playAll({ name: "baseline", prepare: (view) => ({ view, calls: [] }) })).reduce(
    (sum, { cost }) => sum + cost,
    0,
  );
  for (const policy of policies) rows.push(rowOf(policy.name, await playAll(policy), { whole, window }));
  const named = transcripts.map(({ name, turns, repairs, questions, unasked }) => ({
    name,
    messages: turns.length,
    repairs,
    questions: questions.length,
    unasked,
  }));
  return { window, hits, transcripts: named, policies: rows };
}

function rowOf(name: string, played: readonly Played[], { whole, window }: { whole: number; window: number }): LabRow {
  const total = (figure: PlayedCount): number => played.reduce((sum, one) => sum + one[figure], 0);
  const questionCount = total("asked");
  const questions = total("questions");
  const sizes = played.flatMap(({ timeline }) =>
    timeline.map(({ parts }) => Object.values(parts).reduce((a, b) => a + b, 0)),
  );
  return {
    name,
    cost: whole === 0 ? 1 : total("cost") / whole,
    requests: total("requests"),
    tokens: total("tokens"),
    known: questionCount === 0 ? null : total("known") / questionCount,
    knownWithRecall: questionCount === 0 ? null : (total("known") + total("recalled")) / questionCount,
    evidence: questions === 0 ? null : total("evidence") / questions,
    evidenceWithRecall: questions === 0 ? null : total("evidenceWithRecall") / questions,
    violations: total("violations"),
    compactions: total("compactions"),
    waits: total("summarizerCalls"),
    reuse: total("reused") / Math.max(1, total("tokens")),
    peak: Math.max(0, ...played.map(({ peak }) => peak)),
    overWindow: sizes.filter((size) => size > window).length,
    rereads: total("rereads"),
    timelines: played.map(({ timeline }) => timeline),
  };
}
