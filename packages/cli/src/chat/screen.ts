/**
 * What a chat looks like: the answer as it comes, tool calls folded to a line each, a mark where a compaction happened,
 * and what goes on meanwhile. Reads events and writes text; asks no questions.
 */
import type { AgentEvent, StepUsage } from "palimpsest";
import { budgetText } from "../terminal/budget-bar.ts";
import type { Output } from "../terminal/output.ts";
import { clipColumns, counted, duration, plain } from "../terminal/output.ts";
import type { Activity } from "./input.ts";
import { createMarkdown, type Markdown } from "./markdown.ts";
import { brief, callFacts, compactionMark, wrapped } from "./wording.ts";

export interface ScreenOptions {
  readonly output: Output;
  /** At a terminal lines are broken between words. */
  readonly terminal: boolean;
  readonly clear?: () => Promise<void>;
  /** Told what goes on; null: nothing. */
  readonly show: (activity: Activity | null) => void;
  /** In columns; a terminal may change. */
  readonly width: () => number;
}

export class Screen {
  readonly color: boolean;
  readonly #width: () => number;
  readonly #output: Output;
  readonly terminal: boolean;
  #markdown: Markdown;
  #lineOpen = false;
  readonly clear: () => Promise<void>;
  readonly #show: ScreenOptions["show"];
  #activity: Activity | null = null;
  #hides = { hide: 0, keep: 0 };
  readonly #inputs = new Map<string, unknown>();

  constructor({ output, terminal, width, show, clear = async () => {} }: ScreenOptions) {
    this.clear = clear;
    this.#show = show;
    this.#output = output;
    this.terminal = terminal;
    this.color = output.color;
    this.#width = width;
    this.#markdown = this.#freshMarkdown();
  }

  get width(): number {
    return this.#width();
  }

  async line(text: string): Promise<void> {
    await this.styled(plain(text));
  }

  /** Lines that were given their style already; what others wrote must have been made safe before. */
  async styled(text: string): Promise<void> {
    await this.settle();
    await this.#write(`${text}\n`);
  }

  async prose(text: string): Promise<void> {
    await this.settle();
    await this.#write(this.#markdown.push(text));
    await this.settle();
  }

  async aside(text: string): Promise<void> {
    await this.styledAside(plain(text));
  }

  async styledAside(text: string): Promise<void> {
    const lines = text.split("\n").flatMap((line) => this.#wrapped(line));
    await this.styled(lines.map((line) => this.#painted(line, 2, 22)).join("\n"));
  }

  /** Ends whatever line the answer is in. */
  async settle(): Promise<void> {
    await this.#write(this.#markdown.end());
    this.#markdown = this.#freshMarkdown();
    if (this.#lineOpen) await this.#write("\n");
  }

  /** Work begins, from its first moment on: `thinking`, `compacting`. */
  begin(phase: "thinking" | "compacting", budget: string): void {
    this.#do({ phase, doing: phase, budget });
  }

  rest(): void {
    this.#activity = null;
    this.#show(null);
  }

  /** Shows one event of a run; await it, so that a slow reader isn't run over. */
  async event(event: AgentEvent): Promise<void> {
    switch (event.type) {
      case "thread-wait":
        return this.aside(
          `  ! another run holds this thread, or one that was killed: waiting up to ${duration(event.waitMs)} (Ctrl-C stops)`,
        );
      case "step-start":
        return this.#do({ phase: "thinking", doing: "thinking" });
      case "compaction-check":
        return this.#do({ budget: budgetText(event.tokens, event.window) });
      case "compaction-start":
        this.#hides = event;
        return this.#do({ phase: "compacting", doing: `compacting ${counted(event.hide, "message")}` });
      case "summary-progress":
        return this.#do({ phase: "compacting", doing: `summarized ${event.done} of ${event.of}` });
      case "compaction-end":
        this.#do({ phase: "thinking", doing: "thinking" });
        if (event.outcome.kind !== "compacted") return;
        for (const text of compactionMark(event.outcome, this.#hides, this.width))
          for (const line of this.#wrapped(plain(text))) await this.styled(this.#painted(line, 33, 39));
        return;
      case "text-delta":
        if (this.#activity?.phase !== "streaming") this.#do({ phase: "streaming", doing: "answering" });
        return this.#write(this.#markdown.push(event.text));
      case "tool-start":
        this.#inputs.set(event.callId, event.input);
        await this.settle();
        return this.#do({ phase: "tool", doing: `${event.name} ${brief(event.input)}` });
      case "tool-end":
        this.#do({ phase: "thinking", doing: "thinking" });
        return this.#toolEnd(event);
      case "subagent-step":
        return this.#do({ doing: childText(event, `turn ${event.turn} of ${event.maxTurns}`, event.total) });
      case "subagent-end":
        return this.aside(`  > ${clipColumns(childText(event, event.status, event.usage), this.width - 5)}`);
      case "model-retry":
        return this.aside(`  ! ${event.reason}; trying again in ${duration(event.delayMs)}`);
      case "overflow-recover":
        return this.aside("  ! the provider finds the prompt too long: it is made smaller and sent again");
      default:
        return;
    }
  }

  async #toolEnd(event: Extract<AgentEvent, { type: "tool-end" }>): Promise<void> {
    const { callId, name } = event;
    const facts = callFacts(event);
    const call = clipColumns(`${name} ${brief(this.#inputs.get(callId))}`, this.width - facts.length - 5);
    this.#inputs.delete(callId);
    await this.aside(`  > ${call}${facts}`);
  }

  async #write(text: string): Promise<void> {
    if (text === "") return;
    this.#lineOpen = !text.endsWith("\n");
    await this.#output.styled(text);
  }

  /** Outside of any work there is nothing to wait for. */
  #do(change: Partial<Activity>): void {
    if (this.#activity === null && change.phase === undefined) return;
    this.#activity = { ...NOTHING, ...this.#activity, ...change };
    this.#show(this.#activity);
  }

  /** Elsewhere than on a terminal a line is as long as it is. */
  #wrapped(text: string): readonly string[] {
    return this.terminal ? wrapped(text, this.width) : [text];
  }

  #freshMarkdown(): Markdown {
    return createMarkdown({ color: this.color, width: this.terminal ? this.#width : null });
  }

  #painted(text: string, start: number, end: number): string {
    return this.color ? `\u001b[${start}m${text}\u001b[${end}m` : text;
  }
}

interface ChildLine {
  readonly agent: string;
  readonly ms: number;
}

/** A child is one line, folded: what it does is in its own thread. */
function childText({ agent, ms }: ChildLine, state: string, { input, output }: StepUsage): string {
  return `${agent} · ${state} · ${input + output} tokens · ${duration(ms)}`;
}

const NOTHING: Activity = { phase: "thinking", doing: "thinking", budget: "" };
