/** One row of the grid, as a worker plays it: a transcript, by its path or as the seed of a generated one, in one shape and window. */
import { readFileSync } from "node:fs";
import { type Dialect, detectDialect, type Shape, shapeOf } from "@palimpsest/core/internal/message";
import { randomConversation, render } from "@palimpsest/testing/internal/shapes";
import { readConversations } from "../../src/import/read-conversations.ts";
import { type GridReport, playGrid } from "./playback-grid.ts";

export interface GridJob {
  readonly transcript: string | number;
  readonly dialect: Dialect;
  readonly window: number;
}

export async function playGridJob({ transcript, dialect, window }: GridJob): Promise<GridReport> {
  const total = { cells: 0, requests: 0, attempts: 0 };
  const faults: string[] = [];
  for (const messages of await conversationsOf(transcript)) {
    const from = detectDialect(messages).dialect;
    const report = await playGrid(messages, from, { windows: [window], dialects: [dialect] });
    for (const name of ["cells", "requests", "attempts"] as const) total[name] += report[name];
    faults.push(...report.faults);
  }
  return { ...total, faults };
}

async function conversationsOf(transcript: string | number): Promise<readonly (readonly object[])[]> {
  if (typeof transcript === "number") {
    return [
      render(randomConversation(transcript, { messages: 700, longest: 8000 }), shapeOf("openai") as Shape<object>),
    ];
  }
  const { conversations } = await readConversations(readFileSync(transcript));
  return conversations.map(({ messages }) => messages.map(({ value }) => value));
}
