import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent } from "palimpsest";
import { type ConfiguredAgent, createAgentFromConfig, parseConfig } from "palimpsest/home";
import { storeTarget } from "palimpsest/internal/stores";
import { threadDeps, verify } from "palimpsest/session";
import { openStore } from "palimpsest/stores";
import type { CommandRun, Context } from "../command/command.ts";
import { Failure } from "../command/failure.ts";
import {
  createPlayer,
  demoPrompts,
  EXPECTED,
  FIRST_WORDS,
  LAST_QUESTION,
  LATER_QUESTION,
  LIKED,
  type Player,
  replayedTexts,
} from "../demo/play.ts";
import { createShow, type Show } from "../demo/show.ts";

const THREAD = "demo";
const WINDOW = 8000;

export const run: CommandRun<{ readonly seasons?: number }> = async ({ options: { seasons } }, context) => {
  const home = await mkdtemp(join(tmpdir(), "palimpsest-demo-"));
  const store = await openStore(storeTarget(null, home));
  try {
    const { agent, memory } = await createAgentFromConfig({ home, config: demoConfig(), store });
    return await perform({ agent, memory: memory!, context, prompts: demoPrompts(seasons) });
  } finally {
    await store.close();
    await rm(home, { recursive: true, force: true });
  }
};

/** A model of 8,000 tokens, compacted at 85 % of them as agents are by default. */
function demoConfig() {
  const parsed = parseConfig(
    `models: [{name: offline, provider: offline, model: offline, max_input_tokens: ${WINDOW}}]
summarization: {enabled: true, trigger: {type: fraction, value: 0.85}, keep: {type: messages, value: 6}}`,
    { env: {} },
  );
  if (parsed.kind === "invalid") throw new TypeError(parsed.problems.join("; "));
  return parsed.config;
}

interface Stage {
  readonly agent: Agent;
  readonly memory: NonNullable<ConfiguredAgent["memory"]>;
  readonly context: Context;
  readonly prompts: readonly string[];
}

async function perform({ agent, memory, context, prompts }: Stage): Promise<number> {
  const started = performance.now();
  const show = createShow(context.output, {
    window: WINDOW,
    turns: prompts.length + 1,
    json: context.format === "json",
  });
  const player = createPlayer(agent, { threadId: THREAD, signal: context.signal });
  await show.opening(FIRST_WORDS);
  for (const [index, prompt] of prompts.entries()) {
    await player.say(prompt);
    show.progress({ turn: index + 1, messages: player.played.heard.length, largest: player.played.largest });
  }
  const recalled = await recallTheBeginning(player, show);
  const undone = await undoAndRedo(agent, player, show);
  const proof = await prove(agent, player, show);
  const remembered = await askElsewhere({ agent, memory, context, show });
  const { played } = player;
  const ok = recalled && undone && remembered && proof.identical && proof.chain === "whole" && played.largest <= WINDOW;
  const seconds = (performance.now() - started) / 1000;
  await show.closing({ ...played, ...proof, recalled, undone, remembered, seconds });
  if (!ok) throw new Failure("demo", "The demo did not keep its promises; the lines above say which.");
  return 0;
}

async function recallTheBeginning(player: Player, show: Show): Promise<boolean> {
  const { text, calls } = await player.say(LAST_QUESTION);
  const isRecalled = text.includes(EXPECTED) && calls.some(({ name }) => name === "recall");
  await show.recall({ question: LAST_QUESTION, calls, text, found: isRecalled });
  return isRecalled;
}

async function undoAndRedo(agent: Agent, { played }: Player, show: Show): Promise<boolean> {
  const thread = agent.thread(THREAD);
  const look = async () => {
    const prompt = await thread.context();
    return prompt.kind === "missing"
      ? { messages: 0, breakdown: null }
      : { messages: prompt.messages.length, breakdown: prompt.breakdown };
  };
  const compacted = await look();
  const undo = await thread.undo();
  const whole = await look();
  const redo = await thread.redo();
  const again = await look();
  const done = undo.kind === "undone" && redo.kind === "redone" && again.messages === compacted.messages;
  await show.undo({
    before: whole.breakdown,
    after: again.breakdown,
    messages: [compacted.messages, whole.messages, again.messages],
    compactions: played.compactions.length,
    done,
  });
  return done;
}

async function prove(agent: Agent, { played }: Player, show: Show) {
  const { texts, ...size } = await replayedTexts(agent.thread(THREAD).replay());
  const identical = JSON.stringify(texts) === JSON.stringify(played.heard);
  const { kind: chain } = await verify(threadDeps(agent.store), THREAD);
  await show.proof({ identical, texts: texts.length, chain });
  return { identical, chain, ...size };
}

/** A new thread knows nothing of the first but what memory has learned from it. */
async function askElsewhere({
  agent,
  memory,
  context,
  show,
}: Omit<Stage, "prompts"> & { show: Show }): Promise<boolean> {
  await memory.close(10_000);
  const { facts } = await memory.repository.read({ userId: "default", agentName: null });
  const fact = facts.find(({ content }) => content.includes(LIKED));
  const player = createPlayer(agent, { threadId: "another", signal: context.signal });
  const { text } = await player.say(LATER_QUESTION);
  const isRemembered = fact !== undefined && text.includes(LIKED);
  await show.memory({ question: LATER_QUESTION, text, found: isRemembered });
  return isRemembered;
}
