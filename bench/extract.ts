/**
 * What the summarizer that needs no model keeps of a real session: the share of its probes (paths, ids, numbers, error
 * lines) in a rolled summary, beside random turns of the same size. Also checks citations and the ledger after the rolls.
 * `npm run bench -- extract FILE [--tokens 4000] [--rolls 20]`
 */

import { type OpenAiMessage, openaiShape } from "@palimpsest/core/internal/message";
import type { NumberedMessage, SummaryState } from "@palimpsest/core/internal/summary";
import { extractSummary, RECALL, renderSummary, SECTIONS } from "@palimpsest/core/internal/summary";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { termsIn } from "../packages/core/src/text/analyze.ts";
import { failingLines, namesIn } from "../packages/core/src/text/names.ts";
import { type Bench, quantile } from "./bench.ts";
import { readSession } from "./session.ts";

const SAMPLES = 40;
const count = charsPerToken(4);

const bench: Bench = async (args, options) => {
  const entries = readSession(args[0], "extract FILE [--tokens N] [--rolls N]")
    .flatMap((line) => (line.kind === "message" ? [line.message as OpenAiMessage] : []))
    .map((message, index) => ({ seq: index + 1, message }));
  const maxTokens = Number(options["tokens"] ?? 4000);
  const once = measure(entries, { maxTokens, rolls: 1 });
  const rolled = measure(entries, { maxTokens, rolls: Number(options["rolls"] ?? 20) });
  return { messages: entries.length, once, rolled };
};

export default bench;

function measure(
  entries: readonly NumberedMessage<OpenAiMessage>[],
  { maxTokens, rolls }: { maxTokens: number; rolls: number },
) {
  const started = performance.now();
  let state: SummaryState | null = null;
  for (let roll = 0; roll < rolls; roll++) {
    const block = entries.slice((roll * entries.length) / rolls, ((roll + 1) * entries.length) / rolls);
    state = extractSummary(state, block, openaiShape, { maxTokens, count });
  }
  const { text, tokens } = renderSummary(state!, { maxTokens, count, originals: { ...RECALL, folder: "history/" } });
  const ms = performance.now() - started;
  const texts = entries.map(({ message }) => textOf(message));
  const all = probesOf(entries, texts);
  // Worth remembering: what the session itself came back to.
  const reused = all.filter((probe) => texts.filter((words) => words.includes(probe)).length > 1);
  return {
    tokens,
    ms: Math.round(ms),
    all: compare(text, tokens, texts, all),
    reused: compare(text, tokens, texts, reused),
    citations: citations(state!, new Map(entries.map(({ seq }, index) => [seq, texts[index]!]))),
    filesChanged: state!.ledger.files.filter((file) => /[wedm]/.test(file.did)).length,
    failingCommands: state!.ledger.commands.filter((command) => command.fails > 0).length,
  };
}

function compare(summary: string, tokens: number, texts: readonly string[], probed: readonly string[]) {
  const kept = (text: string) => probed.filter((probe) => text.includes(probe)).length / probed.length;
  const random = seeded(1);
  let sum = 0;
  for (let sample = 0; sample < SAMPLES; sample++) sum += kept(randomTurns(texts, tokens, random));
  const [ours, baseline] = [kept(summary), sum / SAMPLES];
  return { probes: probed.length, kept: ours, randomKept: baseline, ratio: ours / baseline };
}

/** Whole turns until the size is reached, the last one cut. */
function randomTurns(texts: readonly string[], tokens: number, random: () => number): string {
  const pool = [...texts];
  const chosen: string[] = [];
  for (let left = tokens; left > 0 && pool.length > 0; ) {
    const [text] = pool.splice(Math.floor(random() * pool.length), 1);
    chosen.push(count(text!) <= left ? text! : text!.slice(0, left * 4));
    left -= count(text!);
  }
  return chosen.join("\n");
}

function citations(state: SummaryState, words: ReadonlyMap<number, string>) {
  const items = SECTIONS.flatMap((section) => state.sections[section]);
  const valid = items.filter((item) => {
    const own = termsIn(item.text);
    return item.seqs.some((seq) => [...termsIn(words.get(seq) ?? "")].some((term) => own.has(term)));
  });
  const sizes = items.map((item) => item.seqs.length);
  return { items: items.length, holdATerm: valid.length / items.length, turnsP50: quantile(sizes, 0.5) };
}

function probesOf(entries: readonly NumberedMessage<OpenAiMessage>[], texts: readonly string[]): string[] {
  const names = new Set(texts.flatMap((text) => namesIn(text).map((probe) => probe.text)));
  for (const [index, { message }] of entries.entries()) {
    if (openaiShape.role(message) !== "tool") continue;
    for (const line of failingLines(texts[index]!, 50)) names.add(line);
  }
  return [...names];
}

function textOf(message: OpenAiMessage): string {
  return openaiShape
    .parts(message)
    .map((part) => (part.kind === "call" ? part.input : "text" in part ? part.text : ""))
    .join("\n");
}

/** A small generator with a fixed seed, so that every run draws the same turns. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}
