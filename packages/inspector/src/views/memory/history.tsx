/** Every change that was made to the memory, the newest first, each to be taken back. */
import { useState } from "preact/hooks";
import { type ApiProblem, ask } from "../../api/ask.ts";
import { ProblemNote } from "../../parts/problem.tsx";
import { ago, line } from "../../text/format.ts";
import { changesOf, type ShownChange } from "./memory-facts.ts";
import type { MemoryChange } from "./memory-view.tsx";

interface HistoryProps {
  readonly changes: readonly ShownChange[];
  readonly change: MemoryChange;
}

const PAGE = 30;

export function History({ changes, change }: HistoryProps) {
  const [most, setMost] = useState(PAGE);
  const [problem, setProblem] = useState<{ readonly of: string; readonly problem: ApiProblem } | null>(null);
  const told = changesOf(changes);
  const undo = async (id: string) => {
    const refused = await change(() => ask("POST /api/memory/undo", { body: { change: id } }));
    setProblem(refused === null ? null : { of: id, problem: refused });
  };
  return (
    <section class="card" aria-labelledby="history-title">
      <h2 id="history-title">Changes</h2>
      {told.length === 0 && <p class="dim">Whatever is learned, corrected or forgotten is listed here.</p>}
      <ol class="change-list">
        {told.slice(0, most).map(({ id, at, by, what, before, after, isUndone }) => (
          <li key={id} class={isUndone ? "is-undone" : ""}>
            <div class="row">
              <span class="cut" title={id}>
                {what}
              </span>
              <span class="dim small nowrap">
                {by === "manual" ? "by hand" : by} · {ago(at, new Date())}
              </span>
              {isUndone ? (
                <span class="pill push">undone</span>
              ) : (
                <button type="button" class="button plain push" onClick={() => void undo(id)}>
                  Undo<span class="hidden"> {id}</span>
                </button>
              )}
            </div>
            {before !== "" && <p class="before">{line(before)}</p>}
            {after !== "" && <p class="after">{line(after)}</p>}
            {problem?.of === id && <ProblemNote problem={problem.problem} />}
          </li>
        ))}
      </ol>
      {told.length > most && (
        <button type="button" class="button" onClick={() => setMost(most + PAGE)}>
          Show {Math.min(PAGE, told.length - most)} more
        </button>
      )}
    </section>
  );
}
