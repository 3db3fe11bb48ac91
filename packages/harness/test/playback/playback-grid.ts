/**
 * The grid of playbacks: every window, every shape, every summarizer, one transcript. A cell that isn't clean is named.
 */

import { convert, DIALECTS, type Dialect, rulesOf, type Shape, shapeOf } from "@palimpsest/core/internal/message";
import { answerReserve, charsPerToken, createMeter } from "@palimpsest/core/internal/tokens";
import { summarizationFromOptions } from "../../src/compaction/summarization.ts";
import { playback } from "./playback.ts";
import { misbehavingWriter, SUMMARIZERS, type SummarizerName } from "./summarizers.ts";

export interface Grid {
  readonly windows: readonly number[];
  readonly dialects?: readonly Dialect[];
  readonly summarizers?: readonly SummarizerName[];
}

export interface GridReport {
  readonly cells: number;
  readonly requests: number;
  readonly attempts: number;
  readonly faults: readonly string[];
}

export async function playGrid(transcript: readonly object[], from: Dialect, grid: Grid): Promise<GridReport> {
  const total = { cells: 0, requests: 0, attempts: 0 };
  const faults: string[] = [];
  for (const dialect of grid.dialects ?? DIALECTS) {
    const shape = shapeOf(dialect) as Shape<object>;
    const messages = convert(transcript as never[], from, dialect) as readonly object[];
    const meter = createMeter(shape, { counter: charsPerToken(4) });
    for (const size of grid.windows) {
      for (const name of grid.summarizers ?? (Object.keys(SUMMARIZERS) as SummarizerName[])) {
        const report = await playback({
          messages,
          shape,
          rules: rulesOf(dialect),
          meter,
          window: { size, reserve: answerReserve(size, null) },
          policy: summarizationFromOptions().policy,
          writer: misbehavingWriter(name, size),
          prune: { cache: "warm" },
        });
        total.cells++;
        total.requests += report.requests;
        total.attempts += report.attempts;
        const clean = report.violations + report.overWindow + report.impossible + report.hasty === 0;
        if (!clean || !report.replayIdentical)
          faults.push(`${dialect} ${size} ${name}: ${report.firstFault ?? "replay differs"}`);
      }
    }
  }
  return { ...total, faults };
}
