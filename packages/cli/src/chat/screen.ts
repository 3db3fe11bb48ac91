/**
 * What a chat looks like: the answer as it comes, tool calls folded to a line each, a mark where a compaction happened,
 * and one passing line that says what goes on. Reads events and writes text; asks nobody anything.
 */
import type { AgentEvent, StepUsage } from "palimpsest/agent";
import { budgetText } from "../terminal/budget-bar.ts";
import type { Output } from "../terminal/output.ts";
import { plain, printable } from "../terminal/terminal-text.ts";
import { createMarkdown, type Markdown } from "./markdown.ts";
import { brief, bytes, clip, compactionMark, duration, wrapped } from "./wording.ts";

export interface ScreenOptions {
  readonly output: Output;
  /** Lines that pass are only for a terminal: elsewhere everything printed stays. */
  readonly terminal: boolean;
  /** In columns; a terminal may change. */
  readonly width: () => number;
}

export class Screen {
  readonly color: boolean;
  readonly #width: () => number;
  readonly #output: Output;
  readonly #terminal: boolean;
  #markdown: Markdown;
  #lineOpen = false;
  #passing = false;
  #budget = "";
  #hides = { hide: 0, keep: 0 };
  readonly #inputs = new Map<string, unknown>();

  constructor({ output, terminal, width }: ScreenOptions) {
    this.#output = output;
    this.#terminal = terminal;
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

  /** A paragraph of markdown. */
  async prose(text: string): Promise<void> {
    await this.settle();
    await this.#write(this.#markdown.push(text));
    await this.settle();
  }

  /** Something beside the conversation. */
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
    if (this.#passing) await this.#output.styled(CLEAR);
    this.#passing = false;
  }

  /** Shows one event of a run; await it, so that a slow reader isn't run over. */
  async event(event: AgentEvent): Promise<void> {
    switch (event.type) {
      case "thread-wait":
        return this.aside(
          `  ! another run holds this thread, or one that was killed: waiting up to ${duration(event.waitMs)} (Ctrl-C stops)`,
        );
      case "compaction-check":
        this.#budget = budgetText(event.tokens, event.window);
        return this.#pass(`${this.#budget} · thinking`);
      case "compaction-start":
        this.#hides = event;
        return this.#pass(`${this.#budget} · compacting ${event.hide} messages`);
      case "summary-progress":
        return this.#pass(`${this.#budget} · summarized ${event.done} of ${event.of}`);
      case "compaction-end":
        if (event.outcome.kind !== "compacted") return;
        for (const text of compactionMark(event.outcome, this.#hides, this.width))
          for (const line of this.#wrapped(plain(text))) await this.styled(this.#painted(line, 33, 39));
        return;
      case "text-delta":
        return this.#write(this.#markdown.push(event.text));
      case "tool-start":
        this.#inputs.set(event.callId, event.input);
        await this.settle();
        return this.#pass(`${event.name} ${brief(event.input)} ...`);
      case "tool-end":
        return this.#toolEnd(event);
      case "subagent-step":
        return this.#pass(childText(event, `turn ${event.turn} of ${event.maxTurns}`, event.total));
      case "subagent-end":
        return this.aside(`  > ${clip(childText(event, event.status, event.usage), this.width - 5)}`);
      case "model-retry":
        return this.aside(`  ! ${event.reason}; trying again in ${duration(event.delayMs)}`);
      case "overflow-recover":
        return this.aside("  ! the provider finds the prompt too long: it is made smaller and sent again");
      default:
        return;
    }
  }

  async #toolEnd({ callId, name, output, isError, ms }: Extract<AgentEvent, { type: "tool-end" }>): Promise<void> {
    const facts = ` · ${duration(ms)} · ${bytes(output)}${isError ? " · failed" : ""}`;
    const call = clip(`${name} ${brief(this.#inputs.get(callId))}`, this.width - facts.length - 5);
    this.#inputs.delete(callId);
    await this.aside(`  > ${call}${facts}`);
  }

  async #write(text: string): Promise<void> {
    if (text === "") return;
    const clear = this.#passing ? CLEAR : "";
    this.#passing = false;
    this.#lineOpen = !text.endsWith("\n");
    await this.#output.styled(clear + text);
  }

  /** A line that the next output takes the place of. */
  async #pass(text: string): Promise<void> {
    if (!this.#terminal || this.#lineOpen) return;
    await this.#write(this.#painted(clip(printable(text), this.width - 1), 2, 22));
    this.#passing = true;
    this.#lineOpen = false;
  }

  /** Elsewhere than on a terminal a line is as long as it is. */
  #wrapped(text: string): readonly string[] {
    return this.#terminal ? wrapped(text, this.width) : [text];
  }

  #freshMarkdown(): Markdown {
    return createMarkdown({ color: this.color, width: this.#terminal ? this.width : null });
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

const CLEAR = "\r\u001b[K";
