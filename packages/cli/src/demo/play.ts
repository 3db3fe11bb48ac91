/**
 * Plays the demo's conversation through the real agent and notes, beside the store, what was said and done. Prints
 * nothing.
 */

import type { MessageRecord } from "@palimpsest/core/internal/log";
import { aiSdkShape } from "@palimpsest/core/internal/message";
import type { Agent, AgentEvent } from "palimpsest";

type DemoCompaction = Extract<Extract<AgentEvent, { type: "compaction-end" }>["outcome"], { kind: "compacted" }>;

interface CompactionSeen extends Omit<DemoCompaction, "messages"> {
  readonly turn: number;
}

export interface PlayedDemo {
  /** The user's words and the agent's, in order, as they were heard. */
  readonly heard: string[];
  readonly compactions: CompactionSeen[];
  toolCalls: number;
  modelCalls: number;
  /** The largest prompt that the model reported, in tokens. */
  largest: number;
}

export interface DemoTurn {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown; readonly ms: number }[];
}

export interface Player {
  readonly played: PlayedDemo;
  say(prompt: string): Promise<DemoTurn>;
}

export interface PlayerOptions {
  readonly threadId: string;
  readonly signal: AbortSignal;
}

export function createPlayer(agent: Agent, { threadId, signal }: PlayerOptions): Player {
  const played: PlayedDemo = { heard: [], compactions: [], toolCalls: 0, modelCalls: 0, largest: 0 };
  let turn = 0;
  const note = (event: AgentEvent): void => {
    if (event.type === "step-end") {
      played.modelCalls += 1;
      played.largest = Math.max(played.largest, event.usage?.input ?? 0);
    }
    if (event.type !== "compaction-end" || event.outcome.kind !== "compacted") return;
    const { messages: _, ...outcome } = event.outcome;
    played.compactions.push({ ...outcome, turn });
  };
  return {
    played,
    async say(prompt) {
      turn += 1;
      played.heard.push(prompt);
      const inputs = new Map<string, unknown>();
      const calls: { name: string; input: unknown; ms: number }[] = [];
      const stream = agent.stream({ threadId, prompt, signal });
      for await (const event of stream) {
        note(event);
        if (event.type === "tool-start") inputs.set(event.callId, event.input);
        if (event.type === "tool-end")
          calls.push({ name: event.name, input: inputs.get(event.callId), ms: Math.round(event.ms) });
      }
      const { end, text } = await stream.result;
      signal.throwIfAborted();
      if (end.kind !== "answered") throw new Error(`turn ${turn} ended as ${JSON.stringify(end)}`);
      played.toolCalls += calls.length;
      played.heard.push(text);
      return { text, calls };
    },
  };
}

/*
 * What is said in the demo: months of notes on repairing a lighthouse, the same every time. Written so that the offline
 * model has something to do: it takes notes, writes and reads files, and is asked about what came before.
 */

/** Said first of all and never again; the demo ends by asking for it. */
export const FIRST_WORDS =
  "Before we begin: the spare key of the boat house hangs behind the blue door, under the third shelf.";
export const LAST_QUESTION = "What did I say at the very beginning about the spare key of the boat house?";
export const EXPECTED = "behind the blue door";

/** Said once on the way, and asked for in another thread, where only memory knows it. */
const TOLD = "By the way, I like coffee with cardamom.";
export const LATER_QUESTION = "Which coffee do I like?";
export const LIKED = "coffee with cardamom";

const PLACES = [
  ["lamp room", "two panes are cracked and the lens carriage drags", "recast the panes in the old thickness"],
  ["engine shed", "the diesel starts cold only at the third attempt", "replace the glow plugs and keep the block"],
  ["north stair", "nine treads are loose and the rail rusts at the wall", "cast the treads anew from the old pattern"],
  ["well", "the pump loses its prime within an hour", "fit a foot valve and leave the shaft alone"],
  ["signal mast", "the upper shroud is frayed down to four strands", "splice a new shroud from galvanised wire"],
  ["kitchen", "smoke comes back through the stove in an east wind", "raise the flue by a metre and add a cowl"],
  ["oil store", "the floor drain is blocked with a century of paint", "cut the drain open and line it with lead"],
  ["slipway", "the lowest rail has moved a hand's width seaward", "drive six new pins and pour a concrete toe"],
  ["fog horn", "the compressor reaches only half its pressure", "regrind the valves and hang a new belt"],
  ["watch room", "the barometer reads nine millibars too high", "send the barometer to the maker in Bergen"],
] as const;

const SEASONS = ["April", "June", "August", "October"] as const;

export function demoPrompts(seasons: number = SEASONS.length): string[] {
  const visits = SEASONS.slice(0, seasons).flatMap((season, round) =>
    PLACES.flatMap((place, index) => visit(place, { season, number: round * PLACES.length + index })),
  );
  return [FIRST_WORDS, TOLD, ...visits];
}

interface Visit {
  readonly season: string;
  readonly number: number;
}

function visit([name, fault, plan]: (typeof PLACES)[number], { season, number }: Visit): string[] {
  const file = `notes/${season.toLowerCase()}-${name.replaceAll(" ", "-")}.md`;
  const price = 180 + ((number * 137) % 900);
  const earlier = PLACES[(number * 7 + 3) % PLACES.length]![0];
  return [
    `${season}, ${name}: ${fault}. Visit ${number + 1} took ${2 + (number % 4)} hours, the wind was ${4 + (number % 5)} from the west, and nobody was hurt.`,
    `We decided for the ${name} in ${season}: ${plan}, since the inspector of district ${11 + number} insists on it and the budget allows ${price} crowns.`,
    `write "${report(name, { season, number }, price)}" to ${file}`,
    `read ${file}`,
    ...(number % 3 === 2 ? [`What did we decide about the ${earlier}?`] : []),
    ...(number % 5 === 4 ? ["list files in notes"] : []),
  ];
}

function report(name: string, { season, number }: Visit, price: number): string {
  const lines = Array.from({ length: 5 }, (_, step) => {
    const part = ["bolts", "timber", "paint", "wire", "mortar"][(step + number) % 5]!;
    return `- step ${step + 1}: ${3 + ((number + step) % 9)} units of ${part}, ${20 + ((price * (step + 2)) % 70)} crowns, done by hand`;
  });
  return [`# ${name}, ${season}, visit ${number + 1}`, ...lines, `total ${price} crowns`].join("\n");
}

/* What a person and the agent said to each other, read back from the log: every prompt and every answer, in order. */

export interface Replayed {
  readonly texts: readonly string[];
  /** All messages, calls and results of tools included. */
  readonly messages: number;
  /** Of all of them, at four characters each. */
  readonly tokens: number;
}

export async function replayedTexts(records: AsyncIterable<MessageRecord>): Promise<Replayed> {
  const texts: string[] = [];
  let messages = 0;
  let characters = 0;
  for await (const { body } of records) {
    messages += 1;
    characters += body.length;
    const message = JSON.parse(body);
    const parts = aiSdkShape.parts(message);
    if (message.role === "tool" || parts.some(({ kind }) => kind === "call")) continue;
    texts.push(parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join(""));
  }
  return { texts, messages, tokens: Math.round(characters / 4) };
}
