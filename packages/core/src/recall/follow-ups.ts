/**
 * What is worth asking for next after a search: names that stand in its hits and not in the question, and the days of hits
 * that were not shown. Read from the hits, not by a model; whoever asked decides whether to search again. Pure.
 */
import { fold } from "../text/analyze.ts";
import { properNames } from "../text/names.ts";
import type { ShownHit } from "./render.ts";

/** One short line, or nothing. `hits` are best first, `shown` those of them that the answer shows. */
export function followUps(question: string, hits: readonly ShownHit[], shown: readonly ShownHit[]): string {
  const names = namesIn(question, hits).slice(0, MOST);
  const days = new Set(shown.map(dayOf));
  const others = [...new Set(hits.map(dayOf))].filter((day) => !days.has(day)).slice(0, MOST);
  const parts = [
    ...(names.length > 0 ? [`also named: ${names.join(", ")}`] : []),
    ...(others.length > 0 ? [`more from ${others.join(", ")}`] : []),
  ];
  return parts.length === 0 ? "" : `(${parts.join("; ")})`;
}

const MOST = 4;
const MOST_NAME = 40;
const MOST_READ = 2_000;

/** Those that most hits name first; no word of the question and no speaker, nor a short form of one. */
function namesIn(question: string, hits: readonly ShownHit[]): string[] {
  const asked = new Set(wordsOf(question));
  const speakers = [...new Set(hits.flatMap(({ speaker }) => wordsOf(speaker)))];
  const counts = new Map<string, number>();
  for (const { text } of hits) {
    for (const name of new Set(properNames(text.slice(0, MOST_READ)))) {
      if (!/^\p{Lu}/u.test(name) || name.length > MOST_NAME) continue;
      const isOld = wordsOf(name).some(
        (word) => asked.has(word) || speakers.some((speaker) => speaker.startsWith(word)),
      );
      if (!isOld) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [...counts].sort(([a, times], [b, others]) => others - times || (a < b ? -1 : 1)).map(([name]) => name);
}

function wordsOf(text: string): string[] {
  return fold(text)
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== "");
}

function dayOf({ at }: ShownHit): string {
  return at.slice(0, 10);
}
