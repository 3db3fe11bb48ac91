/**
 * Plays a recorded session through the token account and compares each predicted prompt size with what the provider
 * then reported. `npm run bench -- tokens FILE [--counter chars] [--json]`.
 *   anchored     error of the predicted prompt, as a share of the prompt
 *   delta        error of the predicted growth since the last report, as a share of the growth
 *   afterChange  error of the first prompt after a view change. The file doesn't hold the summaries of its own
 *                compactions, so changes are made here: all but the first request and the last 20,000 tokens is hidden,
 *                and the reports on both sides of what was hidden say how large the rest truly is
 *   charsOver4   growth since the segment's first report by characters / 4, unanchored, as a share of that growth
 */
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/message";
import { type Account, type Count, createAccount, createMeter, type EntrySize } from "@palimpsest/core/tokens";
import { counterFor } from "palimpsest/models";
import { exactCounterFor } from "../packages/harness/src/models/tokenizers.ts";
import type { Bench } from "./bench.ts";
import { quantile } from "./bench.ts";
import { readSession, type SessionLine } from "./session.ts";

type Line = Extract<SessionLine, { kind: "message" }>;
type Message = OpenAiMessage;

const KEEP = 20_000;
const NO_FRAME = { message: 0, call: 0, argument: 0, result: 0, inputs: "json" } as const;

const bench: Bench = async ([path], options) => {
  const lines = readSession(path, "tokens FILE");
  const model = lines.find((line): line is Line => line.kind === "message" && line.model !== null)?.model ?? "unknown";
  const cheap = options["counter"] === "chars";
  const counter = cheap ? counterFor({ model }) : await exactCounterFor({ model });
  const meter = createMeter<Message>(openaiShape, { ...counter, counter: counter.count });
  const plain = createMeter<Message>(openaiShape, { counter: (text) => text.length / 4, frame: NO_FRAME });
  const errors: Errors = { anchored: [], delta: [], afterChange: [], charsOver4: [] };
  const answered = new Set(lines.flatMap((line) => (line.kind === "message" ? answers(line.message as Message) : [])));
  const account = createAccount();
  let ignored = 0;
  let view = emptyView("start");
  for (const [seq, line] of lines.entries()) {
    if (line.kind === "event") {
      view = emptyView(`after ${seq}`);
      continue;
    }
    if (line.usage !== null) {
      const request = { model: line.model ?? model };
      const calibration = { ...request, prior: (cheap ? counterFor(request) : await exactCounterFor(request)).prior };
      const prompt = { view: view.name, fixed: 0, entries: view.entries };
      const predicted = account.count(prompt, calibration);
      const compacted = predictCompacted(account, calibration, { view, prompt: line.usage.input });
      const settled = account.settle({ of: seq, ...line.usage }, { ...calibration, prompt, window: null });
      if (settled.kind === "ignored") ignored += 1;
      else {
        compare(errors, { view, predicted, truth: line.usage.input });
        if (compacted !== null) errors.afterChange.push(Math.abs(compacted.predicted / compacted.truth - 1));
        view.reports.push({ entries: view.entries.length, input: line.usage.input, plain: view.plain });
      }
    }
    const message = asSent(line.message as Message, answered);
    view.entries.push({ seq, tokens: meter.message(message) });
    view.plain += plain.message(message);
  }
  return figures(errors, { ignored, counter: counter.name, prior: counter.prior });
};

export default bench;

/** A cancelled call that nobody answered isn't sent on: a prompt with it would be refused. */
function asSent(message: Message, answered: ReadonlySet<string>): Message {
  if (openaiShape.calls(message).every((id) => answered.has(id))) return message;
  return { ...message, tool_calls: (message.tool_calls ?? []).filter(({ id }) => answered.has(id)) };
}

function answers(message: Message): readonly string[] {
  return openaiShape.answers(message);
}

interface View {
  readonly name: string;
  readonly entries: EntrySize[];
  readonly reports: { readonly entries: number; readonly input: number; readonly plain: number }[];
  plain: number;
}

interface Errors {
  readonly anchored: number[];
  readonly delta: number[];
  readonly afterChange: number[];
  readonly charsOver4: number[];
}

function emptyView(name: string): View {
  return { name, entries: [], reports: [], plain: 0 };
}

function compare(errors: Errors, { view, predicted, truth }: { view: View; predicted: Count; truth: number }): void {
  // The first prompt of a segment, or to another model, holds a system prompt or a summary that the file doesn't show.
  if (predicted.source !== "anchored" && predicted.source !== "reported") return;
  const first = view.reports[0];
  const last = view.reports.at(-1);
  if (first === undefined || last === undefined) return;
  errors.anchored.push(Math.abs(predicted.tokens - truth) / truth);
  errors.delta.push(Math.abs(predicted.tokens - truth) / Math.max(1, Math.abs(truth - last.input)));
  errors.charsOver4.push(Math.abs((view.plain - first.plain) / (truth - first.input) - 1));
}

/** Hides what lies between the first report and the last one that leaves `KEEP` tokens, and predicts what remains. */
function predictCompacted(
  account: Account,
  calibration: { model: string; prior: number },
  { view, prompt }: { view: View; prompt: number },
): { predicted: number; truth: number } | null {
  const first = view.reports[0];
  const cut = view.reports.findLast(({ input }) => input <= prompt - KEEP);
  if (first === undefined || cut === undefined || cut.input - first.input < KEEP) return null;
  const entries = [...view.entries.slice(0, first.entries), ...view.entries.slice(cut.entries)];
  const count = account.count({ view: `${view.name}, compacted`, fixed: 0, entries }, calibration);
  return { predicted: count.tokens, truth: first.input + (prompt - cut.input) };
}

function figures(errors: Errors, context: { ignored: number; counter: string; prior: number }): object {
  const spread = (values: readonly number[]) => ({ p50: quantile(values, 0.5), p95: quantile(values, 0.95) });
  const withMax = (values: readonly number[]) => ({ ...spread(values), max: Math.max(0, ...values) });
  return {
    anchored: withMax(errors.anchored),
    delta: spread(errors.delta),
    afterChange: withMax(errors.afterChange),
    charsOver4: withMax(errors.charsOver4),
    ...context,
    n: errors.anchored.length,
    changes: errors.afterChange.length,
  };
}
