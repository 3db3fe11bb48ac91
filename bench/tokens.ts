/**
 * Plays a recorded session through the token account and compares each predicted prompt size with what the provider
 * then reported. `npm run bench -- tokens FILE [--held-out FILE] [--counter chars] [--json]`.
 *   anchored     error of the predicted prompt, as a share of the prompt
 *   delta        error of the predicted growth since the last report, as a share of the growth
 *   afterChange  error of the first prompt after a view change. The file doesn't hold the summaries of its own
 *                compactions, so changes are made here: all but the first request and the last 20,000 tokens is hidden,
 *                and the reports on both sides of what was hidden say how large the rest truly is
 *   charsOver4   the same question for the usual estimate: the last report and characters / 4 for what was added since;
 *                `answerReported` takes the answer as the provider reported it, as ours does, and the rest by characters
 */
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/internal/message";
import { type Account, type Count, createAccount, createMeter, type EntrySize } from "@palimpsest/core/internal/tokens";
import { counterFor } from "palimpsest/models";
import { exactCounterFor } from "../packages/harness/src/models/tokenizers.ts";
import { type Bench, onHeldOut, quantile } from "./bench.ts";
import { readSession, type SessionLine } from "./session.ts";

type Line = Extract<SessionLine, { kind: "message" }>;
type Message = OpenAiMessage;

const KEEP = 20_000;
const NO_FRAME = { message: 0, call: 0, argument: 0, result: 0, inputs: "json" } as const;

const bench: Bench = async ([path], options) => {
  const cheap = options["counter"] === "chars";
  const own = await measure(path, cheap);
  return { ...own, heldOut: await onHeldOut(options, ([file]) => measure(file, cheap)) };
};

export default bench;

async function measure(path: string | undefined, cheap: boolean): Promise<object> {
  const lines = readSession(path, "tokens FILE");
  const model = lines.find((line): line is Line => line.kind === "message" && line.model !== null)?.model ?? "unknown";
  const counter = cheap ? counterFor({ model }) : await exactCounterFor({ model });
  const meter = createMeter<Message>(openaiShape, { ...counter, counter: counter.count });
  const plain = createMeter<Message>(openaiShape, { counter: (text) => text.length / 4, frame: NO_FRAME });
  const errors: Errors = { ours: noErrors(), charsOver4: noErrors(), answerReported: noErrors(), afterChange: [] };
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
        const { input, output } = line.usage;
        const answer = plain.message(asSent(line.message as Message, answered));
        view.reports.push({ entries: view.entries.length, input, output, plain: view.plain, answer });
      }
    }
    const message = asSent(line.message as Message, answered);
    view.entries.push({ seq, tokens: meter.message(message) });
    view.plain += plain.message(message);
  }
  return figures(errors, { ignored, counter: counter.name, prior: counter.prior });
}

/** A cancelled call without a result isn't sent on: a prompt with it would be refused. */
function asSent(message: Message, answered: ReadonlySet<string>): Message {
  if (openaiShape.calls(message).every((id) => answered.has(id))) return message;
  return { ...message, tool_calls: (message.tool_calls ?? []).filter(({ id }) => answered.has(id)) };
}

function answers(message: Message): readonly string[] {
  return openaiShape.answers(message);
}

/** `plain`: characters / 4 of what was sent, `answer` of what came back. */
interface ViewReport {
  readonly entries: number;
  readonly input: number;
  readonly output: number;
  readonly plain: number;
  readonly answer: number;
}

interface View {
  readonly name: string;
  readonly entries: EntrySize[];
  readonly reports: ViewReport[];
  plain: number;
}

/** As shares of the prompt, and of what was added to it. */
interface Anchored {
  readonly anchored: number[];
  readonly delta: number[];
}

interface Errors {
  readonly ours: Anchored;
  readonly charsOver4: Anchored;
  readonly answerReported: Anchored;
  readonly afterChange: number[];
}

function noErrors(): Anchored {
  return { anchored: [], delta: [] };
}

function emptyView(name: string): View {
  return { name, entries: [], reports: [], plain: 0 };
}

function compare(errors: Errors, { view, predicted, truth }: { view: View; predicted: Count; truth: number }): void {
  // The first prompt of a segment, or to another model, holds a system prompt or a summary that the file doesn't show.
  if (predicted.source !== "anchored" && predicted.source !== "reported") return;
  const last = view.reports.at(-1);
  if (last === undefined) return;
  const added = view.plain - last.plain;
  const note = ({ anchored, delta }: Anchored, tokens: number): void => {
    anchored.push(Math.abs(tokens - truth) / truth);
    delta.push(Math.abs(tokens - truth) / Math.max(1, Math.abs(truth - last.input)));
  };
  note(errors.ours, predicted.tokens);
  note(errors.charsOver4, last.input + added);
  note(errors.answerReported, last.input + last.output + added - last.answer);
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
  const both = ({ anchored, delta }: Anchored) => ({ anchored: withMax(anchored), delta: spread(delta) });
  return {
    ...both(errors.ours),
    afterChange: withMax(errors.afterChange),
    charsOver4: both(errors.charsOver4),
    answerReported: both(errors.answerReported),
    ...context,
    n: errors.ours.anchored.length,
    changes: errors.afterChange.length,
  };
}
