/**
 * Measures cases side by side: each lives in a process of its own, so that none pays for another's garbage, and in every
 * round each takes one turn, so that all see the same load. Each warms up as often, on a short thread and then on the
 * long one, and is measured as often.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { quantile } from "../bench.ts";
import type { TimedTurn } from "./case.ts";

export type Order = "warm-up" | "time" | "weigh" | "end";
export type Answer =
  | { readonly kind: "ready" }
  | { readonly kind: "missing"; readonly what: string }
  | { readonly kind: "timed"; readonly turn: TimedTurn }
  | { readonly kind: "weighed"; readonly bytes: number };

export interface Rounds {
  readonly store: string;
  readonly messages: number;
  readonly warmUp: number;
  readonly turns: number;
  readonly weighed: number;
}

export interface TurnRow {
  readonly who: string;
  readonly store: string;
  readonly messages: number;
  /** What the model was shown in the last turn. */
  readonly shown: number;
  readonly cpuMs: number;
  readonly ms: number;
  readonly bytes: number;
}

/** On the thread itself, which is read then. */
const FIRST_TURNS = 3;

export async function measureRounds(
  names: readonly string[],
  rounds: Rounds,
): Promise<{ readonly rows: readonly TurnRow[]; readonly missing: readonly string[] }> {
  const { store, messages } = rounds;
  const missing = new Set<string>();
  const measured: {
    readonly who: string;
    readonly child: Child;
    readonly turns: TimedTurn[];
    readonly bytes: number[];
  }[] = [];
  try {
    for (const who of names) {
      const child = start([who, store, String(messages)]);
      const answer = await child.answer();
      if (answer.kind === "missing") missing.add(answer.what);
      else measured.push({ who, child, turns: [], bytes: [] });
    }
    for (let round = 0; round < rounds.warmUp; round += 1) for (const { child } of measured) await child.ask("warm-up");
    for (let round = -FIRST_TURNS; round < rounds.turns; round += 1) {
      for (const { child, turns } of measured) {
        const answer = await child.ask("time");
        if (round >= 0 && answer.kind === "timed") turns.push(answer.turn);
      }
    }
    for (let round = 0; round < rounds.weighed; round += 1) {
      for (const { child, bytes } of measured) {
        const answer = await child.ask("weigh");
        if (answer.kind === "weighed") bytes.push(answer.bytes);
      }
    }
  } finally {
    for (const { child } of measured) await child.end();
  }
  const median = (values: readonly number[]): number => Math.round(quantile(values, 0.5) * 100) / 100;
  const rows = measured.map(({ who, turns, bytes }) => ({
    who,
    store,
    messages,
    shown: turns.at(-1)?.shown ?? 0,
    cpuMs: median(turns.map(({ cpuMs }) => cpuMs)),
    ms: median(turns.map(({ ms }) => ms)),
    bytes: median(bytes),
  }));
  return { rows, missing: [...missing] };
}

interface Child {
  answer(): Promise<Answer>;
  ask(order: Order): Promise<Answer>;
  end(): Promise<void>;
}

function start(args: readonly string[]): Child {
  const file = fileURLToPath(new URL("child.ts", import.meta.url));
  const child: ChildProcess = fork(file, args, { execArgv: ["--conditions=palimpsest-source"] });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the process of "${args[0]}" has ended (${code})`);
  });
  ended.catch(() => {});
  const answer = async (): Promise<Answer> => (await Promise.race([once(child, "message"), ended]))[0] as Answer;
  return {
    answer,
    ask(order) {
      const answered = answer();
      child.send(order);
      return answered;
    },
    async end() {
      if (child.connected) child.send("end" satisfies Order);
      await ended.catch(() => {});
    },
  };
}
