/** What a search over all threads finds, with the words that made it a hit. */
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../../api/answer.ts";
import { ask } from "../../api/ask.ts";
import { threads } from "../../api/threads.ts";
import { Empty } from "../../parts/empty.tsx";
import { Marked } from "../../parts/marked.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { nameOf } from "../../parts/tree.ts";
import { addressOf } from "../../router/place.ts";
import { coverWords } from "../../text/cover-words.ts";
import { ago } from "../../text/format.ts";

/** Nobody wants an answer to half a word. */
const PAUSE_MS = 180;

export function Found({ question }: { readonly question: string }) {
  const [asked, setAsked] = useState(question);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(question), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [question]);
  const { value, problem, reload } = useAnswer(`search ${asked}`, () =>
    ask("GET /api/search", { query: { q: asked, limit: 50 } }),
  );
  if (problem !== null) return <ProblemNote problem={problem} retry={reload} />;
  if (value === null)
    return (
      <p class="dim pad" role="status">
        Searching…
      </p>
    );
  const cover = coverWords(value);
  if (value.hits.length === 0)
    return (
      <Empty title={cover === null ? "Nothing was said about that" : "Nothing found yet"}>
        <p>{cover ?? value.reason ?? "Words count, in any order; other words for the same thing may find it."}</p>
      </Empty>
    );
  return (
    <ul class="found fill" aria-label="Hits">
      {cover !== null && <li class="dim small">{cover}</li>}
      {value.hits.map(({ thread = "", seq, at, speaker, snippet, marks }) => (
        <li key={`${thread}#${seq}`}>
          <a class="card hit" href={addressOf("window", thread, { seq: String(seq) })}>
            <span class="row dim small">
              <span class="cut">{nameOf(threads.value.get(thread) ?? { id: thread, title: null })}</span>
              <span class="mono">#{seq}</span>
              <span>{speaker}</span>
              <span class="push">{ago(at, new Date())}</span>
            </span>
            <span class="words" dir="auto">
              <Marked text={snippet} marks={marks as readonly (readonly [number, number])[]} />
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}
