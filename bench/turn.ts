/**
 * What one turn of an agent costs beside the model, as its thread grows: the user's message, the prompt, the answer, all
 * persisted. CPU, time and the bytes it adds to the write-ahead log, medians; ours in several settings and the peers'
 * agents in theirs, each in a process of its own, one turn each in every round, equally often.
 * `npm run bench -- turn [--sizes 100,1000] [--warm-up 40] [--turns 25] [--store sqlite|postgres|memory] [--only ours]`
 * Where several sizes are given, `--warm-up` and `--turns` may have a number for each.
 */
import { type Bench, BenchInputError } from "./bench.ts";
import { OURS, PEERS } from "./turn/cases.ts";
import { measureRounds, type TurnRow } from "./turn/rounds.ts";

const STORES = ["sqlite", "postgres", "memory"];
const WEIGHED = 2;

const turn: Bench = async (_args, options) => {
  const store = String(options["store"] ?? "sqlite");
  if (!STORES.includes(store)) throw new BenchInputError(`--store ${store}: one of ${STORES.join(", ")}.`);
  const sizes = numbers(options["sizes"] ?? "100,1000,10000");
  const [warmUps, turns] = [numbers(options["warm-up"] ?? "150"), numbers(options["turns"] ?? "25,25,9")];
  const names = namesFor(store, options["only"] === "ours");
  const rows: TurnRow[] = [];
  const missing = new Set<string>();
  for (const [index, messages] of sizes.entries()) {
    const rounds = {
      warmUp: warmUps[index] ?? warmUps.at(-1)!,
      turns: turns[index] ?? turns.at(-1)!,
      weighed: WEIGHED,
    };
    const measured = await measureRounds(names, { store, messages, ...rounds });
    rows.push(...measured.rows);
    for (const what of measured.missing) missing.add(what);
  }
  return { store, sizes: sizes.join(), warmUps: warmUps.join(), turns: turns.join(), rows, missing: [...missing] };
};

export default turn;

/** The peers have SQLite; on PostgreSQL each of ours has a server of its own. */
function namesFor(store: string, alone: boolean): readonly string[] {
  const ours = Object.keys(OURS);
  if (store === "postgres") return ours.filter((name) => !name.includes(","));
  return alone || store !== "sqlite" ? ours : [...ours, ...Object.keys(PEERS)];
}

function numbers(list: string | true): readonly number[] {
  return String(list).split(",").map(Number);
}
