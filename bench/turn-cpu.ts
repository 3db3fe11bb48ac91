/**
 * What one turn costs in CPU beside a bare `streamText` call with the same model, all in one process and in turn, so that
 * the ratio holds on a busy machine too. `npm run bench -- turn-cpu [--rounds N] [--warm-up N] [--json]`. The ratio is that of
 * the tenth of the turns that was disturbed least. The thread has 20 to 60 messages in view, behind some compactions' summaries.
 */
import { streamText } from "ai";
import { type Bench, quantile } from "./bench.ts";
import { question, type TurnCase, timeTurn } from "./turn/case.ts";
import { plainModel } from "./turn/model.ts";
import { ourCase } from "./turn/ours.ts";

const MESSAGES = 100;

const OURS = [
  ["in memory", { store: "memory", view: "compacted" }],
  ["in memory, with files", { store: "memory", view: "compacted", files: "with" }],
  ["in memory, an agent made anew", { store: "memory", view: "compacted", agent: "anew" }],
  ["SQLite in a file", { store: "sqlite", view: "compacted" }],
] as const;

const bench: Bench = async (_args, options) => {
  const [rounds, warmUp] = [Number(options["rounds"] ?? 150), Number(options["warm-up"] ?? 120)];
  const cases = [{ what: "streamText", one: bareCall(), cpu: [] as number[] }];
  for (const [what, setting] of OURS) cases.push({ what, one: await ourCase(setting, MESSAGES), cpu: [] });
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const { one, cpu } of cases) {
      const { cpuMs } = await timeTurn(one);
      if (round >= 0) cpu.push(cpuMs);
    }
  }
  for (const { one } of cases) await one.close();
  const bare = quantile(cases[0]!.cpu, 0.1);
  const rows = cases.map(({ what, cpu }) => {
    const p10 = quantile(cpu, 0.1);
    return { what, cpuMs: quantile(cpu, 0.5), p10, timesStreamText: p10 / bare };
  });
  return { rounds, warmUp, rows };
};

export default bench;

function bareCall(): TurnCase {
  const model = plainModel(1000);
  const turn = async (): Promise<void> => {
    const { stream, steps } = streamText({ model, messages: [{ role: "user", content: question(0) }] });
    for await (const _ of stream);
    await steps;
  };
  return {
    turn,
    warmUp: turn,
    written: () => 0,
    shown: () => model.shown,
    close: async () => {},
  };
}
