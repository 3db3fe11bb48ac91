/**
 * A chat's terminal: keys into the input's state machine, its state onto the rows at the bottom, and what it wants done.
 * The only place that reads the terminal, and the only one that writes to it.
 */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { emitKeypressEvents } from "node:readline";
import { errorText } from "@palimpsest/core/internal/text";
import { Display } from "../terminal/display.ts";
import type { Output } from "../terminal/output.ts";
import { plain } from "../terminal/output.ts";
import {
  type Activity,
  type Effect,
  type Happening,
  type InputState,
  isWaiting,
  type Phase,
  startInput,
  stepInput,
  unsaidLines,
} from "./input.ts";
import { earlyKey, editText, type Keyboard, keyReader, type RawKey } from "./keyboard.ts";
import { KEPT } from "./line-editor.ts";
import { type PromptStatus, promptRows, SIGN_MS, saidText } from "./prompt-rows.ts";

const { stdin, stdout } = process;

export interface TerminalOptions {
  readonly home: string;
  readonly output: Output;
  /** What the text before the cursor could become. */
  readonly complete: (before: string) => Promise<readonly string[]>;
  /** Ctrl-C during an answer. */
  readonly onStop: () => void;
  /** Ctrl-C twice, or Ctrl-D: whatever goes on, the person wants to leave. */
  readonly onLeave: () => void;
}

export async function openTerminal(options: TerminalOptions): Promise<TerminalInput> {
  const file = join(options.home, "chat-history");
  return new TerminalInput(options, file, await readHistory(file));
}

export class TerminalInput implements Keyboard {
  readonly output: Output;
  readonly #options: TerminalOptions;
  readonly #file: string;
  readonly #display: Display;
  readonly #timer: NodeJS.Timeout;
  readonly #read = keyReader();
  #state: InputState;
  #status: PromptStatus | null = null;
  #since = performance.now();
  #waiting: ((line: string | null) => void) | null = null;
  #left = false;
  #mentions: readonly string[] = [];
  /** Until a line is first waited for, keys may have been pressed before this program had the terminal. */
  #starting = true;

  constructor(options: TerminalOptions, file: string, history: readonly string[]) {
    const { output } = options;
    this.#options = options;
    this.#file = file;
    this.#state = startInput(history);
    this.#display = new Display({
      write: (text) => output.styled(text),
      size: () => ({ width: stdout.columns || 80, height: stdout.rows || 24 }),
      live: (width, height) =>
        promptRows(this.#state, this.#status, { width, height, now: performance.now(), color: output.color }),
    });
    this.#timer = setInterval(() => this.#status !== null && this.#display.redraw(), SIGN_MS).unref();
    this.output = this.#printing(output);
    stdin.setEncoding("utf8").on("end", this.#leave);
    emitKeypressEvents(stdin);
    stdout.on("resize", this.#redraw);
    this.#take();
  }

  /** What goes on, with the moving sign, until something else does or nothing (null). */
  show(activity: Activity | null): void {
    this.#status = activity === null ? null : { ...activity, since: this.#since };
    if (activity !== null && !isWaiting(this.#state.phase)) this.#happen({ kind: "phase", phase: activity.phase });
    this.#redraw();
  }

  next(phase: Phase = "idle"): Promise<string | null> {
    if (this.#left) return Promise.resolve(null);
    this.#status = null;
    // What the system holds of them is read in the next round of the event loop, before the second of these.
    if (this.#starting) setImmediate(() => setImmediate(() => this.#endStart()));
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#happen({ kind: "phase", phase });
    });
  }

  mentions(): readonly string[] {
    return this.#mentions;
  }

  fill(text: string): void {
    this.#happen({ kind: "fill", text });
  }

  unsaid(): readonly string[] {
    return unsaidLines(this.#state);
  }

  clear(): Promise<void> {
    return this.#display.clear();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#display.close();
    this.#release();
    stdin.off("end", this.#leave);
    stdout.off("resize", this.#redraw);
    await writeHistory(this.#file, this.#state.editor.history);
  }

  #endStart(): void {
    this.#starting = false;
  }

  #happen(happening: Happening): void {
    const { state, effects } = stepInput(this.#state, happening);
    this.#state = state;
    for (const effect of effects) this.#act(effect);
    this.#redraw();
  }

  #act(effect: Effect): void {
    switch (effect.kind) {
      case "say":
        this.#since = performance.now();
        void this.#display.above(saidText(plain(effect.said.shown)));
        this.#mentions = effect.said.mentions;
        this.#answer(effect.said.text);
        break;
      case "stop":
        this.#options.onStop();
        break;
      case "leave":
        this.#leave();
        break;
      case "complete":
        void this.#complete(effect.before);
        break;
      case "open-editor":
        void this.#suspended(async () => this.fill(await editText(effect.text)));
        break;
      case "clear-screen":
        void this.#display.clear();
        break;
      case "suspend":
        void this.#suspended(toShell);
        break;
    }
  }

  readonly #redraw = (): void => this.#display.redraw();

  readonly #leave = (): void => {
    // What is being left doesn't end: as the terminal's own Ctrl-C would.
    if (this.#left) process.kill(process.pid, "SIGINT");
    this.#left = true;
    this.#options.onLeave();
    this.#answer(null);
  };

  #answer(line: string | null): void {
    this.#waiting?.(line);
    this.#waiting = null;
  }

  async #complete(before: string): Promise<void> {
    this.#happen({ kind: "completions", before, options: await this.#options.complete(before) });
  }

  /** Another program has the terminal meanwhile. */
  async #suspended(work: () => Promise<void>): Promise<void> {
    await this.#display.suspend();
    this.#release();
    const problem = await work().then(
      () => null,
      (error: unknown) => plain(`! ${errorText(error)}`),
    );
    this.#take();
    await this.#display.resume();
    if (problem !== null) await this.#display.above(problem);
  }

  readonly #onKey = (_: unknown, raw: RawKey): void => {
    const key = this.#read(raw);
    if (key === null) return;
    this.#happen({ kind: "key", key: this.#starting ? earlyKey(key) : key, at: performance.now() });
  };

  #take(): void {
    stdin.setRawMode(true);
    stdin.on("keypress", this.#onKey).resume();
    stdout.write(PASTE_ON);
  }

  #release(): void {
    stdout.write(PASTE_OFF);
    stdin.off("keypress", this.#onKey).pause();
    stdin.setRawMode(false);
  }

  #printing(output: Output): Output {
    return {
      ...output,
      styled: (text) => this.#display.print(text),
      write: (text) => this.#display.print(plain(text)),
      line: (text) => this.#display.print(`${plain(text)}\n`),
      note: (text) => void this.#display.above(plain(text)),
      progress: () => {},
    };
  }
}

/**
 * As Ctrl-Z does, until the person comes back: all programs of the job stop, npm too where it has started this one, or the
 * shell would not return. Where there is no shell to go to the system stops nothing, and the chat goes on.
 */
function toShell(): Promise<void> {
  return new Promise((resolve) => {
    process.kill(0, "SIGTSTP");
    setTimeout(resolve, BACK_MS);
  });
}

/** The clock stands still as long as the process does. */
const BACK_MS = 50;

const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";

/** Stands for the end of a line, so that each thing said is one line of the file. */
const BREAK = "\u23ce";

/** Oldest first. */
async function readHistory(file: string): Promise<string[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.slice(-KEPT).map((line) => line.replaceAll(BREAK, "\n"));
}

/** Only a convenience: a history that can't be kept is no reason to fail. */
async function writeHistory(file: string, history: readonly string[]): Promise<void> {
  if (history.length === 0) return;
  const lines = history.map((line) => line.replaceAll("\n", BREAK));
  await writeFile(file, `${lines.join("\n")}\n`, { mode: 0o600 }).catch(() => {});
}
