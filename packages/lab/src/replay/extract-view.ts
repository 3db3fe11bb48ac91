/**
 * Hides what a plan hides as a thread of the product would without a model: behind the extract, with its quotes and names,
 * made by the same functions. What a view needs for the next compaction hangs on its summary's message.
 */
import { applyPlan, behindSummary, type CompactPlan, coveredBy } from "@palimpsest/core/internal/compaction";
import type { CompactionRecord, LiveRecords, MessageRecord } from "@palimpsest/core/internal/log";
import { NOTHING_LIVE, view as viewOfRecords } from "@palimpsest/core/internal/log";
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/internal/message";
import { type Prompt, sizesOf } from "@palimpsest/core/internal/prompt";
import { atOnce, extractSummary, ownText, quote, quoteWork } from "@palimpsest/core/internal/summary";
import { homeOriginals } from "palimpsest/internal/compaction";
import type { View } from "./policy.ts";

export type HideBehindExtract = (prompt: Prompt<OpenAiMessage>, plan: CompactPlan) => View;

const shape = openaiShape;
const stamp = { v: 1, at: "", runId: null } as const;

/** Views are of messages in the order of their seqs. */
export function openExtract(): HideBehindExtract {
  const said = new Map<number, OpenAiMessage>();
  const compactions = new WeakMap<OpenAiMessage, CompactionRecord>();
  return (prompt, plan) => {
    for (const { seq, message } of prompt.entries) if (seq !== null) said.set(seq, message);
    const standing = prompt.entries.find(({ source }) => source === "summary");
    const live = liveOf(prompt, standing === undefined ? null : (compactions.get(standing.message) ?? null));
    const read = ({ seq }: MessageRecord): OpenAiMessage => said.get(seq)!;
    const thread = {
      live,
      version: Math.max(0, ...said.keys()),
      viewOf: (records: LiveRecords) => viewOfRecords(records, { shape, read }),
    };
    const { records, prompt: after } = applyPlan(prompt, plan, summaryOf(prompt, plan, { live, said }), {
      thread,
      format: "pair",
    });
    const entries = after.entries.map(({ source, seq, message, addition }) => ({ source, seq, message, addition }));
    const [first] = records;
    const summary = entries.find(({ source }) => source === "summary");
    if (first?.kind === "compaction" && summary !== undefined)
      compactions.set(summary.message, { ...stamp, ...first, seq: thread.version + 1 });
    return entries;
  };
}

function liveOf(prompt: Prompt<OpenAiMessage>, compaction: CompactionRecord | null): LiveRecords {
  const records = (wanted: string): MessageRecord[] =>
    prompt.entries.flatMap(({ source, seq }) =>
      source === wanted && seq !== null ? [{ ...MESSAGE, seq, id: `${seq}` }] : [],
    );
  const [request = null] = records("request");
  return { ...NOTHING_LIVE, compaction, request, systems: records("system"), tail: records("message") };
}

const MESSAGE = { ...stamp, kind: "message", dialect: "openai", origin: "import", body: "" } as const;

function summaryOf(
  prompt: Prompt<OpenAiMessage>,
  { cut }: CompactPlan,
  { live, said }: { live: LiveRecords; said: ReadonlyMap<number, OpenAiMessage> },
) {
  if (cut === null) return null;
  const sizes = sizesOf(prompt);
  const count = sizes.text;
  const original = ({ seq }: MessageRecord): OpenAiMessage => said.get(seq)!;
  const state = live.compaction?.summary.state ?? null;
  const covered = atOnce(coveredBy(live, cut, { shape, original, state }));
  const pins = covered.userTurns
    .toReversed()
    .flatMap((seq) => (said.has(seq) ? [quote(seq, said.get(seq)!, shape)] : []));
  const quotes = quoteWork(covered.own.hidden, {
    maxTokens: cut.quoteTokens,
    count,
    text: ({ seq, part }) => ownText(shape.parts(said.get(seq)!)[part]),
  });
  const lines = { todos: [], delegations: [], skills: [] };
  const input = { ...covered, pins, quotes, lines, originals: homeOriginals };
  const behind = behindSummary("pair", shape, sizes);
  const room = Math.min(cut.summaryTokens - cut.quoteTokens, cut.hiddenTokens - behind - quotes.tokens - 1);
  const maxTokens = room - sizes.message(shape.turn("user", ""));
  const written = {
    rung: "extract" as const,
    state: extractSummary(input.prior, input.entries, shape, { maxTokens, count }),
    calls: 0,
    digested: 0,
  };
  return { input, written, maxTokens, archive: null };
}
