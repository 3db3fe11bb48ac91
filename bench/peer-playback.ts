/**
 * Plays transcripts through the summarization middleware of LangChain and DeepAgents and through ours, with the same
 * summarizers, and judges every request: `npm run bench -- peer-playback FILE... [--held-out FILE] [--window N] [--summarizer S,...] [--json]`.
 *   violations   broken rules of the provider, orphaned tool results among them
 *   overWindow   requests longer than the window allows;  failed  requests that never reached the provider
 *   unread       messages replaced by a summary though the summarizer was never shown them (ours: the bench `summarize`)
 *   agents       ours once more, inside LangChain's own agent, as `@palimpsest/langchain`; `lost`: messages that the agent's state
 *                or the log doesn't have at the end
 *   hidden       at each dialog's end, messages that the last prompt doesn't hold word for word; `lost`: those it says nothing of,
 *                by one judge for all (playback/lost.ts)
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpenAiMessage } from "@palimpsest/core/internal/message";
import { forRequest, openaiRules, openaiShape, repair, violations } from "@palimpsest/core/internal/message";
import { answerReserve, createMeter, type Meter } from "@palimpsest/core/internal/tokens";
import { type AgentTally, playTranscript } from "../packages/adapters-langchain/test/play-transcript.ts";
import { exactCounterFor } from "../packages/harness/src/models/tokenizers.ts";
import { misbehavingWriter, SUMMARIZERS, type SummarizerName } from "../packages/harness/test/playback/summarizers.ts";
import { type Bench, BenchInputError, onHeldOut } from "./bench.ts";
import { type FakeSummarizer, fakeSummarizer } from "./playback/fake-summarizer.ts";
import {
  deepAgentsPlayer,
  type LangChainMiddleware,
  langChainPlayer,
  loadMiddleware,
  type Player,
  type PlayerOptions,
} from "./playback/langchain.ts";
import { toldIn } from "./playback/lost.ts";
import { transcripts } from "./playback/transcripts.ts";
import ourPlayback from "./playback.ts";

const USAGE = "peer-playback FILE... [--window N] [--summarizer NAME,NAME]";
const HOLLOW: ReadonlySet<SummarizerName> = new Set(["failing", "empty", "refusing", "garbage"]);

const bench: Bench = async (files, options) => {
  if (files.length === 0) throw new BenchInputError(`This bench needs transcripts: npm run bench -- ${USAGE}`);
  const window = Number(options["window"] ?? 32_768);
  const names = String(options["summarizer"] ?? "extractive,failing").split(",") as SummarizerName[];
  const unknown = names.find((name) => !(name in SUMMARIZERS));
  if (unknown !== undefined) throw new BenchInputError(`--summarizer ${unknown}: one of ${Object.keys(SUMMARIZERS)}.`);
  const own = await measure(files, window, names);
  return { window, ...own, heldOut: await onHeldOut(options, (held) => measure(held, window, names)) };
};

export default bench;

async function measure(files: readonly string[], window: number, names: readonly SummarizerName[]) {
  const peer = await loadMiddleware();
  const rows: object[] = [];
  const agents: object[] = [];
  for (const summarizer of names) {
    agents.push({ summarizer, ...(await agentRow(files, window, summarizer)) });
    rows.push(await ourRow(files, window, summarizer));
    if (peer.kind === "missing") continue;
    for (const [who, build] of PLAYERS)
      rows.push({ who, summarizer, ...(await play(files, { peer: peer.module, build, window, summarizer })) });
  }
  return { rows, agents, ...(peer.kind === "missing" ? { missing: [peer.what] } : {}) };
}

type Build = (peer: LangChainMiddleware, options: PlayerOptions) => Player;

const PLAYERS: readonly (readonly [string, Build])[] = [
  ["LangChain, defaults", (peer, options) => langChainPlayer(peer, "defaults", options)],
  ["LangChain, best settings", (peer, options) => langChainPlayer(peer, "best", options)],
  ["DeepAgents, defaults", (peer, options) => deepAgentsPlayer(peer, "defaults", options)],
  ["DeepAgents, better settings", (peer, options) => deepAgentsPlayer(peer, "better", options)],
];

async function ourRow(files: readonly string[], window: number, summarizer: SummarizerName): Promise<object> {
  const report = (await ourPlayback(files, { window: String(window), summarizer })) as {
    requests: number;
    violations: number;
    overWindow: number;
    impossible: number;
    hidden: number;
    lost: number;
  };
  const { requests, violations: broken, overWindow, impossible, hidden, lost } = report;
  const judged = { requests, violations: broken, overWindow, failed: impossible };
  return { who: "Palimpsest", summarizer, ...judged, hidden, lost };
}

async function agentRow(files: readonly string[], window: number, summarizer: SummarizerName): Promise<AgentTally> {
  const tally: AgentTally = { requests: 0, violations: 0, overWindow: 0, failed: 0, hollow: 0, lost: 0 };
  const play = { window, writer: misbehavingWriter(summarizer, window), isHollow: HOLLOW.has(summarizer) };
  for (const transcript of (await Promise.all(files.map((file) => transcripts(file, "openai")))).flat())
    await playTranscript(transcript as OpenAiMessage[], play, tally);
  return tally;
}

interface Played {
  readonly peer: LangChainMiddleware;
  readonly build: Build;
  readonly window: number;
  readonly summarizer: SummarizerName;
}

async function play(files: readonly string[], { peer, build, window, summarizer }: Played) {
  const { count, ...counter } = await exactCounterFor({ model: "gpt-4o" });
  const meter = createMeter<OpenAiMessage>(openaiShape, { ...counter, counter: count });
  const limit = window - answerReserve(window, null);
  const tally = { requests: 0, violations: 0, overWindow: 0, failed: 0, unread: 0, hidden: 0, lost: 0 };
  const rules = forRequest(openaiRules);
  for (const transcript of (await Promise.all(files.map((file) => transcripts(file, "openai")))).flat()) {
    // Dangling calls are another middleware's work.
    const { messages } = repair(transcript as OpenAiMessage[], openaiShape, rules);
    const systems = messages.filter(({ role }) => role === "system");
    const folder = mkdtempSync(join(tmpdir(), "palimpsest-peer-"));
    const model = fakeSummarizer(summarizer, { limit, count });
    const player = build(peer, { model, limit, systems, folder, count: (sent) => meter.messages(sent) });
    await playOne(messages, {
      player,
      model,
      systems,
      tally,
      meter,
      limit,
    });
    rmSync(folder, { recursive: true });
  }
  return tally;
}

interface Game {
  readonly player: Player;
  readonly model: FakeSummarizer;
  readonly systems: readonly OpenAiMessage[];
  readonly tally: Record<"requests" | "violations" | "overWindow" | "failed" | "unread" | "hidden" | "lost", number>;
  readonly meter: Meter<OpenAiMessage>;
  readonly limit: number;
}

async function playOne(messages: readonly OpenAiMessage[], game: Game): Promise<void> {
  const { player, model, systems, tally, meter, limit } = game;
  const rules = forRequest(openaiRules);
  let last: readonly OpenAiMessage[] = [];
  for (const message of messages) {
    if (message.role === "system") continue;
    if (message.role === "assistant") {
      tally.requests += 1;
      const calls = model.calls;
      try {
        const { hidden } = await player.request((sent) => {
          const whole = [...systems, ...sent];
          tally.violations += violations(whole, openaiShape, rules).length;
          last = whole;
          if (meter.messages(whole) <= limit) return "accepted";
          tally.overWindow += 1;
          return "too long";
        });
        // A summary without a call is the middleware's own sentence.
        const seen = model.calls > calls ? model.seen : "";
        tally.unread += hidden.filter((one) => !seen.includes(start(one))).length;
      } catch {
        tally.failed += 1;
      }
    }
    player.say(message);
  }
  const told = toldIn(last, messages);
  tally.hidden += told.hidden;
  tally.lost += told.lost;
}

/** Enough of a message to know it by; "" is part of everything. */
function start({ content }: OpenAiMessage): string {
  return typeof content === "string" ? content.slice(0, 120) : "";
}
