/**
 * Sees when an agent goes round in circles: identical calls with identical results, alone or in a cycle. It is told so
 * first; if it goes on, the call is not carried out and the run ends with the reason.
 */
import type { AiSdkOutput } from "@palimpsest/core/internal/message";
import type { Middleware, Run } from "../../agent/run.ts";
import type { CallOutcome, ToolCall } from "../../agent/tools.ts";

declare module "../../agent/features.ts" {
  interface FeatureEvents {
    readonly loopGuard: {
      readonly type: "loop-warn";
      readonly callId: string;
      readonly name: string;
      readonly reason: string;
    };
  }
  interface FeatureErrorCodes {
    readonly loopGuard: "loop";
  }
}

export function loopGuard(options: Partial<RepetitionPolicy> = {}): Middleware {
  const policy = { ...REPETITION_DEFAULTS, ...options };
  const histories = new WeakMap<Run, History>();
  return {
    name: "loop-guard",
    async wrapTool(call, next, run) {
      const history = historyOf(histories, run);
      const key = keyOf(run, call);
      const verdict = judgeCall(history.seen, key, policy);
      if (verdict.kind === "stop") return stop(run, call, verdict);
      const outcome = await next(call);
      history.seen.push({ call: key, result: run.deps.hash(JSON.stringify(outcome.output) ?? "") });
      if (verdict.kind === "fine") return outcome;
      const reason = `${said(call, verdict)} Another round will not change it: try something else, or say what is missing.`;
      run.emit({ type: "loop-warn", callId: call.id, name: call.name, reason });
      return { ...outcome, output: withNote(outcome.output, reason) };
    },
  };
}

interface History {
  /** What the model can still see: a new compaction or prune starts it anew. */
  readonly view: string;
  readonly seen: SeenCall[];
}

function historyOf(histories: WeakMap<Run, History>, run: Run): History {
  const { compaction, prunes } = run.thread.live();
  // Shortening a long new result hides nothing the model has seen.
  const hiding = prunes.findLast(({ entries }) => entries.some(({ reason }) => reason !== "clamped"));
  const view = `${compaction?.seq}.${hiding?.seq}`;
  const cached = histories.get(run);
  const history = cached?.view === view ? cached : { view, seen: [] };
  histories.set(run, history);
  return history;
}

function keyOf({ deps }: Run, { name, input }: ToolCall): string {
  return deps.hash(`${name} ${JSON.stringify(input)}`);
}

function stop(run: Run, call: ToolCall, verdict: Exclude<RepetitionVerdict, { kind: "fine" }>): CallOutcome {
  const reason = `Stopped: ${said(call, verdict)}`;
  run.finish({ kind: "failed", code: "loop", message: reason });
  return { output: { type: "error-text", value: `${reason} The call was not carried out.` }, isError: true };
}

function said({ name }: ToolCall, { period, times }: { readonly period: number; readonly times: number }): string {
  return period === 1
    ? `${name} was called ${times} times in a row with the same arguments and gave the same result.`
    : `the same ${period} calls, ${name} among them, have come round ${times} times with the same results.`;
}

function withNote(output: AiSdkOutput, note: string): AiSdkOutput {
  switch (output.type) {
    case "text":
    case "error-text":
      return { ...output, value: `${output.value}\n\n[${note}]` };
    case "content":
      return { ...output, value: [...output.value, { type: "text", text: `[${note}]` }] };
    case "json":
    case "error-json":
      return {
        type: output.type === "json" ? "text" : "error-text",
        value: `${JSON.stringify(output.value)}\n\n[${note}]`,
      };
    case "execution-denied":
      return output;
  }
}

/**
 * Whether an agent goes round in circles. Pure: it sees what was called and what came back, in order, and says whether
 * the next call would repeat a cycle. The same call with another result is progress, not a repetition. A compaction
 * or a prune hides results from the model, so what came before one doesn't count: to read again is legitimate [F33].
 */

export interface SeenCall {
  /** Name and arguments. */
  readonly call: string;
  readonly result: string;
}

interface RepetitionPolicy {
  /** The repetition that is warned about, and the one that is not carried out any more. */
  readonly warnAt: number;
  readonly stopAt: number;
  /** The longest cycle that is looked for. */
  readonly maxPeriod: number;
}

const REPETITION_DEFAULTS: RepetitionPolicy = { warnAt: 3, stopAt: 5, maxPeriod: 4 };

type RepetitionVerdict =
  | { readonly kind: "fine" }
  | { readonly kind: "warn" | "stop"; readonly period: number; readonly times: number };

/** What to say of `next`, given everything since the last compaction. */
export function judgeCall(
  seen: readonly SeenCall[],
  next: string,
  policy: RepetitionPolicy = REPETITION_DEFAULTS,
): RepetitionVerdict {
  for (let period = 1; period <= policy.maxPeriod; period++) {
    const times = cycles(seen, next, period);
    if (times >= policy.stopAt) return { kind: "stop", period, times };
    if (times >= policy.warnAt) return { kind: "warn", period, times };
  }
  return { kind: "fine" };
}

/** How often the cycle of this length has come round, the one that `next` completes or goes on with included. */
function cycles(seen: readonly SeenCall[], next: string, period: number): number {
  const last = seen.at(-period);
  if (last?.call !== next) return 1;
  let same = 1;
  for (let index = seen.length - 1; index >= period; index--) {
    const [one, before] = [seen[index]!, seen[index - period]!];
    if (one.call !== before.call || one.result !== before.result) break;
    same++;
  }
  // `same` steps stand exactly one period after their likes.
  return 1 + Math.floor((same + period - 1) / period);
}
