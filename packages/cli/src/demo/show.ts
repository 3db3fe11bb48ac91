/**
 * How the demo looks: what a stranger came for first, in 80 columns, readable without color; a moving bar only at a
 * terminal. Decides nothing.
 */
import type { Breakdown } from "@palimpsest/core/internal/prompt";
import { drawBudgetLine } from "../terminal/budget-bar.ts";
import type { Output } from "../terminal/output.ts";
import { duration, grouped } from "../terminal/output.ts";
import { table } from "../terminal/table.ts";
import type { DemoTurn, PlayedDemo } from "./play.ts";

interface Closing extends PlayedDemo {
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
  recall(asked: DemoTurn & { readonly question: string; readonly found: boolean }): Promise<void>;
  undo(seen: DemoUndone): Promise<void>;
  proof(proof: { readonly identical: boolean; readonly texts: number; readonly chain: string }): Promise<void>;
  memory(asked: { readonly question: string; readonly text: string; readonly found: boolean }): Promise<void>;
  closing(closing: Closing): Promise<void>;
}

/** The prompt as it was before its last compaction, which an undo brings back, and as it is. */
interface DemoUndone {
  readonly before: Breakdown | null;
  readonly after: Breakdown | null;
  /** Messages of the prompt with the compaction, without it, and with it again. */
  readonly messages: readonly [number, number, number];
  readonly compactions: number;
  readonly done: boolean;
}

export interface ShowOptions {
  readonly window: number;
  readonly turns: number;
  readonly json: boolean;
}

export function createShow(output: Output, { window, turns, json }: ShowOptions): Show {
  const moving = process.stderr.isTTY === true;
  const line = async (text: string): Promise<void> => (json ? undefined : output.line(text));
  const styled = async (text: string): Promise<void> => (json ? undefined : output.styled(`${text}\n`));
  const heading = (text: string): Promise<void> => styled(output.color ? `\u001b[1m${text}\u001b[0m` : text);
  const bar = (budget: Breakdown): string => drawBudgetLine(budget, { color: output.color, width: 72 });
  return {
    async opening(first) {
      await heading(`A conversation of ${turns} turns in a window of ${grouped(window)} tokens`);
      await line("Real agent, store, tools and files; the model is the offline one: no key needed.\n");
      await line(`you  ${wrapped(first)}`);
    },
    progress({ turn, messages, largest }) {
      if (json || !moving) return;
      const done = Math.round((turn / turns) * 24);
      output.progress(
        `[${"#".repeat(done)}${"·".repeat(24 - done)}] turn ${turn}/${turns} · ${messages} said · largest prompt ${grouped(largest)}`,
      );
    },
    async recall({ question, calls, text, found }) {
      await line(`     ... ${turns - 2} turns later, the first words are long out of the prompt:`);
      await line(`you  ${question}`);
      await line(`bot  ${wrapped(text)}`);
      const searched = calls.map(({ name, ms }) => `${name}, ${duration(ms)}`).join("; ");
      await line(found ? `     Found in the log (${searched}).` : "     NOT FOUND.");
    },
    async undo({ before, after, messages, compactions, done }) {
      await heading(`\nThe last of ${compactions} compactions: a summary takes the place of older messages`);
      if (before !== null) await styled(`before ${bar(before)}`);
      if (after !== null) await styled(`after  ${bar(after)}`);
      await line("       #&= system  % summary  + you  * bot  o results  @ tools  · free  r answer");
      const [, whole, again] = messages;
      const back = `undo shows all ${whole} messages again, redo these ${again}`;
      await line(`It is a record, not a deletion: ${back}.${done ? "" : " FAILED"}`);
    },
    async proof({ identical, texts, chain }) {
      await heading("\nNothing is lost");
      await line(
        `Replay: ${grouped(texts)} texts, ${identical ? "identical word for word" : "DIFFERENT"} to what was said; hash chain ${chain}.`,
      );
    },
    async memory({ question, text, found }) {
      await line("Asked in another thread, which shares nothing but memory:");
      await line(`you  ${question}`);
      await line(`bot  ${wrapped(text)}${found ? "" : "  NOT REMEMBERED."}`);
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
    ["compactions / slowest", `${compactions.length} / ${duration(slowest)}`],
    ["first words found again", closing.recalled ? "yes" : "no"],
    ["compaction undone and redone", closing.undone ? "yes" : "no"],
    ["fact used in another thread", closing.remembered ? "yes" : "no"],
    ["replay equals what was said", `${identical ? "yes" : "no"} (hash chain ${chain})`],
    ["time", `${seconds.toFixed(1)} s`],
  ];
}

function wrapped(text: string): string {
  return text.replaceAll(/(.{1,74})(?:\s+|$)/g, "$1\n     ").trimEnd();
}
