/**
 * Reads a recorded session: one JSON object per line, `{at, segment, message, usage?, model?}` with OpenAI chat messages,
 * and `{event: "compaction", ...}` lines where the view changed. Used by every bench that plays real sessions.
 */
import { isRecord } from "@palimpsest/core/internal/text";
import { BenchInputError, readData } from "./bench.ts";

export type SessionLine =
  | {
      readonly kind: "message";
      readonly at: string;
      readonly segment: number;
      readonly message: unknown;
      readonly usage: SessionUsage | null;
      readonly model: string | null;
      readonly stopReason: string | null;
    }
  | { readonly kind: "event"; readonly event: string; readonly segment: number };

/** As the provider reported it, normalised: `input` is the whole prompt, cached part included. */
export interface SessionUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export function readSession(path: string | undefined, usage: string): SessionLine[] {
  const lines: SessionLine[] = [];
  for (const [index, text] of readData(path, usage).split("\n").entries()) {
    if (text.trim() === "") continue;
    lines.push(line(parseLine(text, `${path}:${index + 1}`)));
  }
  return lines;
}

function parseLine(text: string, place: string): RawLine {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    raw = null;
  }
  if (!isRecord(raw)) throw new BenchInputError(`${place} is no JSON object; a session file has one per line.`);
  return raw;
}

interface RawLine {
  at?: string;
  segment?: number;
  event?: string;
  message?: unknown;
  usage?: { input: number; output: number; cache_read?: number; cache_write?: number };
  model?: string;
  stop_reason?: string;
}

function line(raw: RawLine): SessionLine {
  const segment = raw.segment ?? 0;
  if (raw.message === undefined) return { kind: "event", event: raw.event ?? "unknown", segment };
  const { usage } = raw;
  const cacheRead = usage?.cache_read ?? 0;
  const cacheWrite = usage?.cache_write ?? 0;
  return {
    kind: "message",
    at: raw.at ?? "",
    segment,
    message: raw.message,
    usage: usage ? { input: usage.input + cacheRead + cacheWrite, output: usage.output, cacheRead, cacheWrite } : null,
    model: raw.model ?? null,
    stopReason: raw.stop_reason ?? null,
  };
}
