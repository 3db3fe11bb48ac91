/** How the demo looks: 80 columns, readable without color, a moving bar only at a terminal. Decides nothing. */

import { grouped } from "../terminal/grouped.ts";
import type { Output } from "../terminal/output.ts";
import { table } from "../terminal/table.ts";
import type { CompactionSeen, Played, Turn } from "./play.ts";

interface Closing extends Played {
  readonly messages: number;
  /** Of everything ever said, roughly. */
  readonly tokens: number;
  readonly identical: boolean;
  readonly chain: string;
  readonly recalled: boolean;
  readonly undone: boolean;
  /** A fact said in one thread was used in another. */
  readonly remembered: boolean;
  readonly seconds: number;
}

export interface Show {
  opening(first: string): Promise<void>;
  progress(at: { readonly turn: number; readonly messages: number; readonly largest: number }): void;
  compaction(seen: CompactionSeen): void;
  recall(asked: Turn & { readonly question: string; readonly found: boolean }): Promise<void>;
  undo(views: {
    readonly compacted: number;
    readonly whole: number;
    readonly again: number;
    readonly done: boolean;
  }): Promise<void>;
  proof(proof: { readonly identical: boolean; readonly texts: number; readonly chain: string }): Promise<void>;
  memory(asked: {
    readonly said: string;
    readonly question: string;
    readonly text: string;
    /** Turns the fact was drawn from. */
    readonly sources: readonly string[];
    readonly found: boolean;
  }): Promise<void>;
  closing(closing: Closing): Promise<void>;
}

export interface ShowOptions {
  readonly window: number;
  readonly turns: number;
  readonly json: boolean;
}

export function createShow(output: Output, { window, turns, json }: ShowOptions): Show {
  const moving = process.stderr.isTTY === true;
  const line = async (text: string): Promise<void> => (json ? undefined : output.line(text));
  const heading = async (text: string): Promise<void> =>
    json ? undefined : output.styled(output.color ? `\u001b[1m${text}\u001b[0m\n` : `${text}\n`);
  let count = 0;
  return {
    async opening(first) {
      await heading(`A conversation of ${turns} turns in a window of ${grouped(window)} tokens`);
      await line("Real agent, store, tools and files; the model is the offline one: no key needed.\n");
      await line(`you  ${first}\n`);
    },
    progress({ turn, messages, largest }) {
      if (json || (!moving && turn % Math.ceil(turns / 8) !== 0 && turn !== turns)) return;
      output.progress(
        `${bar(turn / turns)} turn ${turn}/${turns} · ${messages} said · largest prompt ${grouped(largest)}`,
      );
    },
    compaction({ turn, tokensBefore, tokensAfter, rung, ms, hidden }) {
      count += 1;
      const hides = hidden === null ? "shortens tool output" : `hides 1-${hidden[1]}`;
      const size = `${grouped(tokensBefore)} -> ${grouped(tokensAfter)}`;
      void line(`-- compaction ${count} · turn ${turn} · ${size} · ${rung} · ${ms} ms · ${hides}`);
    },
    async recall({ question, calls, text, found }) {
      await heading("\nAsked about the very first words, long out of the prompt");
      await line(`you  ${question}`);
      for (const { name, input, ms } of calls) await line(`     [${name} ${JSON.stringify(input)} · ${ms} ms]`);
      await line(`bot  ${wrapped(text)}`);
      await line(`     ${found ? "Found by recall." : "NOT FOUND."}`);
    },
    async undo({ compacted, whole, again, done }) {
      await heading("\nA compaction is a record, not a deletion");
      await line(`     prompt ${compacted} messages -> undo ${whole} -> redo ${again}${done ? "" : "  FAILED"}`);
    },
    async proof({ identical, texts, chain }) {
      await heading("\nReplay against what was said");
      await line(`     ${texts} texts, ${identical ? "identical word for word" : "DIFFERENT"}; hash chain ${chain}`);
    },
    async memory({ said, question, text, sources, found }) {
      await heading("\nAsked in another thread, which has memory and nothing else");
      await line(`     Said in the first one: "${said}"`);
      await line(`you  ${question}`);
      await line(`bot  ${wrapped(text)}`);
      await line(`     ${found ? `Learned from ${sources.join(", ")}.` : "NOT REMEMBERED."}`);
    },
    async closing(closing) {
      if (json) return output.json({ window, ...figures(closing), compactions: closing.compactions });
      await output.line(`\n${table(["what", "figure"], rows(closing, window))}\n`);
      await output.line('In a terminal, "npm start" opens a chat with the same agent.');
    },
  };
}

function figures({ heard: _, compactions: __, ...rest }: Closing) {
  return { ...rest, seconds: Math.round(rest.seconds * 100) / 100 };
}

function rows(closing: Closing, window: number): string[][] {
  const { compactions, messages, toolCalls, modelCalls, largest, tokens, identical, chain, seconds } = closing;
  const slowest = Math.max(0, ...compactions.map(({ ms }) => ms));
  return [
    ["messages said, tool results included", grouped(messages)],
    ["tool calls", grouped(toolCalls)],
    ["model calls, none of them refused", grouped(modelCalls)],
    ["everything said", `about ${grouped(tokens)} tokens, ${(tokens / window).toFixed(1)} windows full`],
    ["largest prompt / window", `${grouped(largest)} / ${grouped(window)} tokens`],
    ["compactions / slowest", `${compactions.length} / ${slowest} ms`],
    ["first words found again", closing.recalled ? "yes" : "no"],
    ["compaction undone and redone", closing.undone ? "yes" : "no"],
    ["fact used in another thread", closing.remembered ? "yes" : "no"],
    ["replay equals what was said", `${identical ? "yes" : "no"} (hash chain ${chain})`],
    ["time", `${seconds.toFixed(1)} s`],
  ];
}

const WIDTH = 24;

function bar(share: number): string {
  const full = Math.round(share * WIDTH);
  return `[${"#".repeat(full)}${"·".repeat(WIDTH - full)}]`;
}

function wrapped(text: string): string {
  return text.replaceAll(/(.{1,74})(?:\s+|$)/g, "$1\n     ").trimEnd();
}
