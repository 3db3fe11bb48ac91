/**
 * Asks of a policy's prompts what an agent would ask: a name or an error line that a message uses, last seen long before
 * it - is it still in the prompt? And what it quotes, a line of a file it edits, at any distance: was it still there, or
 * had it to be fetched again? The questions come from the session alone, so that every policy answers the same ones.
 */

import { isFailingLine } from "../text/failing-lines.ts";
import { countNames } from "../text/names.ts";

/** One message of the session as the probes see it. */
export interface ProbedMessage {
  readonly text: string;
  /** The part of it that quotes word for word: the inputs of its calls. Empty in what nobody had to know to write. */
  readonly quoted: string;
  /** Whether its author had to know what it names; a tool's output names things by itself. */
  readonly uses: boolean;
}

export interface Probe {
  /** Index of the message that uses the term, and of the last one before it that held it. */
  readonly at: number;
  readonly term: string;
  readonly lastSeen: number;
  /** `distant` uses make the score; the others only show what has to be fetched again. */
  readonly kind: "distant" | "near" | "quote";
}

export interface ProbeOptions {
  /** A use is distant when more than this many messages lie between. */
  readonly distance: number;
}

const MIN_LINE = 20;

export function findProbes(
  messages: readonly ProbedMessage[],
  options: ProbeOptions = { distance: 20 },
): readonly Probe[] {
  const lastSeen = new Map<string, number>();
  const probes: Probe[] = [];
  for (const [at, message] of messages.entries()) {
    const terms = termsIn(message.text);
    if (message.uses) {
      for (const term of terms) {
        const seen = lastSeen.get(term);
        if (seen === undefined) continue;
        probes.push({ at, term, lastSeen: seen, kind: at - seen > options.distance ? "distant" : "near" });
      }
      for (const term of new Set(linesIn(message.quoted))) {
        const seen = lastSeen.get(term);
        if (seen !== undefined && !terms.has(term) && countNames(term).size > 0)
          probes.push({ at, term, lastSeen: seen, kind: "quote" });
      }
    }
    for (const term of terms) lastSeen.set(term, at);
    for (const line of linesIn(message.text)) lastSeen.set(line, at);
  }
  return probes;
}

/** Everything a prompt piece can answer for: names, failing lines, whole lines. */
export function answersIn(text: string): ReadonlySet<string> {
  return new Set([...termsIn(text), ...linesIn(text)]);
}

/** Paths, identifiers, numbers and failing lines. */
function termsIn(text: string): ReadonlySet<string> {
  const terms = new Set(countNames(text).keys());
  for (const line of linesIn(text)) if (isFailingLine(line)) terms.add(line);
  return terms;
}

function linesIn(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.length >= MIN_LINE);
}
