/**
 * The regression gate: runs the cheap deterministic benches on small generated data and compares each figure with the
 * committed one in `gate.json`. `npm run bench -- gate [--update] [--json]`; exit code 1 when a figure is worse by more than
 * its margin. `--update` commits today's figures instead. No figure is a time; one is a ratio of CPU within a run, with a wide margin.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomLogs } from "../packages/harness/test/playback/random-logs.ts";
import append from "./append.ts";
import { type Bench, BenchInputError } from "./bench.ts";
import bytes from "./bytes.ts";
import cost from "./cost.ts";
import { generatedDialogs } from "./gate/dialogs.ts";
import { judge, type Measured } from "./gate/judge.ts";
import { generatedSession } from "./gate/session.ts";
import recall from "./recall.ts";
import tokens from "./tokens.ts";
import turnCpu from "./turn-cpu.ts";

const COMMITTED = new URL("gate.json", import.meta.url);
const LOGS = 120;

const bench: Bench = async (_args, options) => {
  const measured = await measure();
  if (options["update"] === true) {
    const values = Object.fromEntries(measured.map(({ name, value }) => [name, value]));
    writeFileSync(COMMITTED, `${JSON.stringify(values, null, 2)}\n`);
  }
  const rows = judge(measured, committed());
  return { ok: rows.every(({ ok }) => ok), rows };
};

export default bench;

function committed(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(COMMITTED, "utf8")) as Record<string, number>;
  } catch {
    throw new BenchInputError("bench/gate.json is missing or broken; write it with: npm run bench -- gate --update");
  }
}

async function measure(): Promise<Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-gate-"));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  try {
    const session = file("session.jsonl", await generatedSession(5, 20));
    const dialogs = file("dialogs.json", generatedDialogs(5, 1));
    return [
      ...(await validity()),
      ...recallRows((await recall([dialogs], { only: "ours" })) as RecallFigures),
      ...costRows((await cost([session], { only: "ours" })) as CostFigures),
      ...tokenRows((await tokens([session], {})) as TokenFigures),
      ...byteRows((await append([], { messages: "2000", rounds: "400" })) as ByteFigures),
      ...turnRows((await turnCpu([], {})) as TurnFigures),
      ...diskRows((await bytes([], { turns: "300" })) as DiskFigures),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function validity(): Promise<Measured[]> {
  const { invalid, overWindow, hasty, changed } = await randomLogs({ from: 1, to: LOGS + 1, summaries: "extracted" });
  const none = { better: "lower", margin: 0 } as const;
  return [
    { name: `invalid requests, ${LOGS} random logs`, value: invalid, ...none },
    { name: `requests over the window, ${LOGS} random logs`, value: overWindow, ...none },
    { name: `attempts before enough was said, ${LOGS} random logs`, value: hasty, ...none },
    { name: `logs changed by being played, ${LOGS} random logs`, value: changed, ...none },
  ];
}

interface RecallFigures {
  readonly at: Readonly<Record<string, number>>;
  readonly atTokens: Readonly<Record<string, number>>;
}

function recallRows({ at, atTokens }: RecallFigures): Measured[] {
  const higher = { better: "higher", margin: 0.01 } as const;
  return [
    { name: "evidence among the first 10 hits", value: at["10"]!, ...higher },
    { name: "evidence within 500 tokens", value: atTokens["500"]!, ...higher },
  ];
}

interface CostFigures {
  readonly policies: readonly { readonly name: string; readonly cost: number; readonly known: number }[];
}

function costRows({ policies }: CostFigures): Measured[] {
  const own = policies.find(({ name }) => name === "ours")!;
  return [
    { name: "cost of a session, share of never-prune", value: own.cost, better: "lower", margin: 0.01 },
    { name: "distant uses still in the prompt", value: own.known, better: "higher", margin: 0.01 },
  ];
}

interface TokenFigures {
  readonly anchored: { readonly p95: number };
  readonly delta: { readonly p50: number };
  readonly afterChange: { readonly max: number };
}

function tokenRows({ anchored, delta, afterChange }: TokenFigures): Measured[] {
  return [
    { name: "token error, anchored, p95", value: anchored.p95, better: "lower", margin: 0.0005 },
    { name: "token error of the growth, p50", value: delta.p50, better: "lower", margin: 0.005 },
    { name: "token error after a view change, worst", value: afterChange.max, better: "lower", margin: 0.005 },
  ];
}

interface TurnFigures {
  readonly rows: readonly { readonly what: string; readonly timesStreamText: number }[];
}

function turnRows({ rows }: TurnFigures): Measured[] {
  return ["in memory", "in memory, with files"].map((setting) => {
    const value = rows.find(({ what }) => what === setting)!.timesStreamText;
    return { name: `CPU of a turn ${setting}, times streamText`, value, better: "lower", margin: 0.6 };
  });
}

interface ByteFigures {
  readonly append: { readonly walBytes: { readonly p50: number; readonly mean: number } };
}

function byteRows({ append: { walBytes } }: ByteFigures): Measured[] {
  return [
    { name: "bytes written per message, p50", value: walBytes.p50, better: "lower", margin: 512 },
    { name: "bytes written per message, mean with the index", value: walBytes.mean, better: "lower", margin: 512 },
  ];
}

interface DiskFigures {
  readonly turns: number;
  readonly ratio: number;
}

function diskRows({ turns, ratio }: DiskFigures): Measured[] {
  return [{ name: `bytes on the disk for one of text, ${turns} turns`, value: ratio, better: "lower", margin: 0.1 }];
}
