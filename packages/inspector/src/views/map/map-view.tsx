/** What was talked about in a thread, in order: each stretch leads to its first message in the window. */
import { useAnswer } from "../../api/answer.ts";
import { ask } from "../../api/ask.ts";
import { threads, useThreadChange } from "../../api/threads.ts";
import { Empty } from "../../parts/empty.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { nameOf } from "../../parts/tree.ts";
import { place } from "../../router/navigate.ts";
import { addressOf } from "../../router/place.ts";
import { grouped, visible } from "../../text/format.ts";
import { NoThread } from "../window/window-view.tsx";

/** Enough for a thread of some thousand messages; of a longer one the newest stretches. */
const TOKENS = 20_000;

export function MapView() {
  const { id } = place.value;
  return id === null ? <NoThread /> : <ThreadMap key={id} id={id} />;
}

function ThreadMap({ id }: { readonly id: string }) {
  const { value, problem, reload } = useAnswer(`map ${id}`, () =>
    ask("GET /api/threads/{id}/map", { params: { id }, query: { tokens: TOKENS } }),
  );
  useThreadChange(id, reload);
  if (value === null && problem !== null) return <ProblemNote problem={problem} retry={reload} />;
  if (value === null)
    return (
      <p class="dim pad" role="status">
        Reading the map…
      </p>
    );
  const { lines, stretches } = value;
  return (
    <div class="timeline-view">
      <header class="row wrap">
        <h1 class="cut" dir="auto">
          {visible(nameOf({ id, title: threads.value.get(id)?.title ?? null }))}
        </h1>
        <span class="dim number">
          {lines.length === stretches
            ? `${grouped(stretches)} stretches`
            : `the newest ${grouped(lines.length)} of ${grouped(stretches)} stretches`}
        </span>
      </header>
      {lines.length === 0 ? (
        <Empty title="Nothing was said here yet">
          <p>Each subject of the conversation becomes a line.</p>
        </Empty>
      ) : (
        <ol class="card stack map">
          {lines.map(({ from, to, at, label, files, result }) => (
            <li key={from}>
              <a class="link number" href={addressOf("window", id, { seq: String(from) })}>
                {from === to ? from : `${from}–${to}`}
              </a>{" "}
              <span class="dim number">{at.slice(0, 10)}</span> <span dir="auto">{visible(label)}</span>
              {files.length > 0 && <span class="dim"> [{visible(files.join(", "))}]</span>}
              {result !== "" && (
                <span class="dim" dir="auto">
                  {" → "}
                  {visible(result)}
                </span>
              )}
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
