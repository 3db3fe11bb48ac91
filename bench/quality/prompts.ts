/**
 * What the model is sent of what it will use again, and at what price: `npm run bench -- quality prompts FILE... [--held-out
 * FILE] [--windows 8000,32000] [--only NAME,...] [--parts] [--cost] [--quick] [--json]`. FILE is a session (one message a line) or
 * dialogs (one conversation a line). No model is asked.
 *   tokens      mean of a request;  full  the same as a share of the window;  per100  compactions in 100 requests
 *   seen        of the things used again, the share that stands word for word in the request: see probes.ts in packages/lab/src/eval
 *   strict      the same if only messages as they were said, and quotes of whole lines, count: no list, no stub
 *   trunc       seen and strict of truncation to the same tokens, request by request
 *   search      seen, or else in what one search of 2,000 tokens gives for the words of the message
 *   asked       share of the user's requests whose beginning is in the request, asked at every fifth request
 *   cost        against never compacting, with the prompt cache of a provider that reads at marks
 *   fetched     the same where what isn't seen is read again (8,000 characters) and carried; seenThen, strictThen: before each
 * `cheaper`: rivals that cost less than ours and show no less, and sent every request within the window.
 * `ours with rollover`: each compaction starts a fresh window (`summarization.policy: rollover`); no notes are written here.
 * `--quick` leaves out truncation and search. `rich`: LangChain and DeepAgents with a stand-in for a summary that knows what
 * the judge asks for; it is no rival that can be had.
 */

import {
  byPolicy,
  type NamedSender,
  ourThread,
  type PromptFigures,
  promptFigures,
  remembering,
  sessionOf,
} from "@palimpsest/lab/internal/eval";
import { exactCounterFor } from "../../packages/harness/src/models/tokenizers.ts";
import { summarizeAt } from "../../packages/lab/src/replay/policies.ts";
import { type Bench, BenchInputError, type BenchOptions, onHeldOut } from "../bench.ts";
import { readTranscripts } from "../cost/transcript.ts";
import { deepAgentsPlayer, langChainPlayer, loadMiddleware } from "../playback/langchain.ts";
import { byMiddleware, opencodeRule } from "./prompts-rivals.ts";

const USAGE = "quality prompts FILE... [--held-out FILE] [--windows N,N] [--only NAME,...] [--parts] [--cost]";

const prompts: Bench = async (files, options) => {
  if (files.length === 0) throw new BenchInputError(`This bench needs sessions: npm run bench -- ${USAGE}`);
  const peers = await rivals(options);
  const on = async (paths: readonly string[]) => {
    const rows: PromptRow[] = [];
    for (const path of paths) rows.push(...(await measure(path, peers, options)));
    return rows;
  };
  const figures = byKind(await on(files));
  return { ...figures, heldOut: await onHeldOut(options, async (paths) => byKind(await on(paths))) };
};
export default prompts;

function byKind(all: readonly PromptRow[]) {
  const isRich = ({ who }: PromptRow): boolean => who.endsWith(RICH);
  const rows = all.filter((row) => !isRich(row));
  const ours = (rival: PromptRow): PromptRow | undefined =>
    rows.find(({ who, of, window }) => who === "ours" && of === rival.of && window === rival.window);
  const cheaper = rows.filter((row) => !row.who.startsWith("ours") && isCheaper(row, ours(row)));
  return { rows, rich: all.filter(isRich), cheaper };
}

/** At no less visibility; with what is missing fetched, where that was measured. */
function isCheaper(rival: PromptRow, ours: PromptRow | undefined): boolean {
  if (ours === undefined || rival.failed > 0 || rival.over > 0) return false;
  if (rival.fetched !== undefined && ours.fetched !== undefined)
    return rival.fetched < ours.fetched && (rival.seenThen ?? 0) >= (ours.seenThen ?? 0);
  return rival.cost < ours.cost && (rival.seen ?? 0) >= (ours.seen ?? 0);
}

type PromptRow = PromptFigures & { readonly of: string; readonly window: number };

const RICH = ", rich";

async function rivals(options: BenchOptions): Promise<readonly NamedSender[]> {
  const peer = await loadMiddleware();
  const middleware =
    peer.kind === "missing"
      ? []
      : [
          byMiddleware("LangChain", peer.module, (module, given) => langChainPlayer(module, "best", given), "extract"),
          byMiddleware(
            "DeepAgents",
            peer.module,
            (module, given) => deepAgentsPlayer(module, "better", given),
            "extract",
          ),
          byMiddleware(
            `LangChain${RICH}`,
            peer.module,
            (module, given) => langChainPlayer(module, "best", given),
            "rich",
          ),
          byMiddleware(
            `DeepAgents${RICH}`,
            peer.module,
            (module, given) => deepAgentsPlayer(module, "better", given),
            "rich",
          ),
        ];
  const at = [0.35, 0.45, 0.55, 0.7, 0.85].map((share) =>
    byPolicy((window) => summarizeAt(window, share, 6, "cached-prefix"), `summarize at ${Math.round(share * 100)} %`),
  );
  const rollover = ourThread("ours with rollover", { style: "rollover" });
  const all = [ourThread(), rollover, ...middleware, byPolicy(opencodeRule), ...at];
  const only = options["only"];
  if (only === undefined) return all;
  const names = String(only).split(",");
  const chosen = all.filter(({ name }) => names.includes(name));
  if (chosen.length === 0) throw new BenchInputError(`--only: one of ${all.map(({ name }) => name).join(", ")}.`);
  return chosen;
}

async function measure(path: string, senders: readonly NamedSender[], options: BenchOptions): Promise<PromptRow[]> {
  const { whole, segments } = readTranscripts(path, USAGE);
  const isDialogs = whole.length > 1;
  const windows = String(options["windows"] ?? (isDialogs ? "4000" : "8000,32000,64000,200000"))
    .split(",")
    .map(Number);
  if (!windows.every((window) => window >= 1000))
    throw new BenchInputError(`--windows ${options["windows"]}: numbers of tokens, at least 1000 each.`);
  const counter = await exactCounterFor({ model: "gpt-4o" });
  const count = remembering(counter.count);
  const parts = options["parts"] === true && segments.length > 1 ? segments.map((one) => [one]) : [];
  const rows: PromptRow[] = [];
  for (const transcripts of [whole, ...parts]) {
    const sessions = transcripts.map(({ name, turns }) =>
      sessionOf(name, turns, { distance: isDialogs ? 6 : 20, count }),
    );
    const of = transcripts.length > 1 ? `${transcripts.length} dialogs` : transcripts[0]!.name;
    for (const window of windows)
      for (const sender of senders)
        rows.push({
          of,
          window,
          ...(await promptFigures(sender, sessions, {
            window,
            count,
            withFetched: options["cost"] === true,
            quick: options["quick"] === true,
          })),
        });
  }
  return rows;
}
