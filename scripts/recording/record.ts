/**
 * Plays the story to the real chat at a terminal and keeps what stood on the screen after each act. How long something
 * took is left out, so that the same program makes the same picture.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Cell, drawCells } from "../../packages/cli/test/draw-screen.ts";
import { openTerminal } from "../../packages/cli/test/terminal.ts";
import type { Act } from "./story.ts";

export type Row = readonly Cell[];

export interface Scene {
  readonly act: Act;
  /** The prompt with what was typed behind it. */
  readonly prompt: Row;
  /** What the chat printed then, its bar last. */
  readonly rows: readonly Row[];
}

export interface Recording {
  /** What stands there before anything is typed. */
  readonly opening: readonly Row[];
  readonly scenes: readonly Scene[];
}

export async function record(story: readonly Act[], window: number): Promise<Recording> {
  const folder = mkdtempSync(join(tmpdir(), "palimpsest-recording-"));
  const closing = [() => rmSync(folder, { recursive: true, force: true })];
  try {
    const seat = { home: join(folder, "home"), cwd: folder, env: { NO_COLOR: "", TERM: "xterm-256color" } };
    const after = (close: () => void) => void closing.unshift(close);
    const chat = openTerminal({ after }, seat, "chat", "--thread", "harbor", "--window", String(window));
    await chat.until(/\/help lists commands.*\n> $/);
    const opening = drawCells(chat.written()).slice(0, -1);
    const scenes: Scene[] = [];
    let height = opening.length;
    for (const act of story) {
      chat.type(`${act.how === "paste" ? `${PASTE}${act.text}${PASTED}` : act.text}\r`);
      await chat.until(new RegExp(`^(?:[^]*?\\ncontext [^\\n]*\\]\\n){${scenes.length + 1}}> $`));
      const [prompt, ...rows] = drawCells(chat.written()).slice(height, -1).map(withoutTimes);
      scenes.push({ act, prompt: prompt!, rows });
      height += 1 + rows.length;
    }
    return { opening, scenes };
  } finally {
    for (const close of closing) close();
  }
}

/** Bracketed, as a terminal marks it. */
const PASTE = "\u001b[200~";
const PASTED = "\u001b[201~";

export function textOf(row: Row): string {
  return row.map(({ character }) => character).join("");
}

/** `recall Rex live · 2 ms · 1.4 kB` without the milliseconds; a line drawn to the edge still ends there. */
export function withoutTimes(row: Row): Row {
  const match = / · [\d.,]+ m?s(?= )|(?<=-- .*) · [\d.,]+ m?s$/.exec(textOf(row));
  if (match === null) return row;
  const kept = [...row.slice(0, match.index), ...row.slice(match.index + match[0].length)];
  const last = kept.at(-1)!;
  return last.character === "-" ? [...kept, ...row.slice(kept.length).map(() => last)] : kept;
}
