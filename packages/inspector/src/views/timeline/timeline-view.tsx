/** A thread over time: the tokens of every request, what happened when, and the exact request of any past turn. */
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../../api/answer.ts";
import { type Answer, ask } from "../../api/ask.ts";
import { threads, useThreadChange } from "../../api/threads.ts";
import { useActions } from "../../keyboard/actions.ts";
import { Empty } from "../../parts/empty.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { nameOf } from "../../parts/tree.ts";
import { place, select } from "../../router/navigate.ts";
import { addressOf } from "../../router/place.ts";
import { dollars, grouped, visible } from "../../text/format.ts";
import { NoThread } from "../window/window-view.tsx";
import { Chart } from "./chart.tsx";
import { type MarkFacts, requestFrom } from "./curve.ts";
import { Moment } from "./moment.tsx";

export type Timeline = Answer<"GET /api/threads/{id}/timeline">;

export function TimelineView() {
  const { id } = place.value;
  return id === null ? <NoThread /> : <ThreadTimeline key={id} id={id} />;
}

function ThreadTimeline({ id }: { readonly id: string }) {
  const held = useAnswer(`timeline ${id}`, () => ask("GET /api/threads/{id}/timeline", { params: { id } }));
  useThreadChange(id, held.reload);
  if (held.value === null && held.problem !== null) return <ProblemNote problem={held.problem} retry={held.reload} />;
  if (held.value === null)
    return (
      <p class="dim pad" role="status">
        Reading the timeline…
      </p>
    );
  const title = threads.value.get(id)?.title ?? null;
  return (
    <div class="timeline-view">
      {held.value.requests.length === 0 ? (
        <>
          <h1 dir="auto">{visible(nameOf({ id, title }))}</h1>
          <Empty title="No model has answered here yet">
            <p>
              Each request becomes a point of a curve once a provider has reported its tokens. Imported threads have
              none;{" "}
              <a class="link" href={addressOf("chat", id)}>
                say something
              </a>{" "}
              and come back.
            </p>
          </Empty>
        </>
      ) : (
        <Played id={id} title={title} timeline={held.value} />
      )}
    </div>
  );
}

interface PlayedProps {
  readonly id: string;
  readonly title: string | null;
  readonly timeline: Timeline;
}

function Played({ id, title, timeline }: PlayedProps) {
  const { requests } = timeline;
  const marks = marksOf(id, timeline);
  const seqs = requests.map(({ seq }) => seq);
  const wanted = Number(place.value.query["at"] ?? Number.NaN);
  const [dragged, setDragged] = useState<number | null>(null);
  const index = dragged ?? (Number.isNaN(wanted) ? requests.length - 1 : requestFrom(seqs, wanted));
  useEffect(() => {
    if (dragged === null) return;
    // While one drags, only where one stops is asked for.
    const timer = setTimeout(() => {
      select({ at: String(seqs[dragged]) });
      setDragged(null);
    }, 120);
    return () => clearTimeout(timer);
  }, [dragged]);
  const compactions = marks.filter(({ kind }) => kind === "compaction");
  const jump = (step: 1 | -1) => {
    const here = seqs[index] ?? 0;
    const next =
      step === 1
        ? compactions.find(({ seq }) => seq > here)
        : compactions.findLast(({ seq }) => requestFrom(seqs, seq) < index);
    if (next !== undefined) setDragged(requestFrom(seqs, next.seq));
  };
  useActions(
    [
      { name: "Next compaction", key: "]", run: () => jump(1) },
      { name: "Compaction before", key: "[", run: () => jump(-1) },
    ],
    `${id} ${index} ${compactions.length}`,
  );
  const spent = requests.reduce((sum, { cost }) => sum + (cost ?? 0), 0);
  return (
    <>
      <header class="row wrap">
        <h1 class="cut" dir="auto">
          {visible(nameOf({ id, title }))}
        </h1>
        <span class="dim number">
          {grouped(requests.length)} requests · {grouped(compactions.length)} compactions
          {spent > 0 && ` · ${dollars(spent)}`}
        </span>
      </header>
      <section class="card stack" aria-label="Tokens of every request">
        <div class="row wrap">
          <h2>Tokens of every request</h2>
          <Legend marks={marks} />
        </div>
        <Chart requests={requests} marks={marks} index={index} onMove={setDragged} />
      </section>
      <Moment id={id} timeline={timeline} index={index} isMoving={dragged !== null} />
    </>
  );
}

/** Forks of it are marks as well, though its own log doesn't know of them. */
function marksOf(id: string, { marks }: Timeline): readonly MarkFacts[] {
  const forks = [...threads.value.values()]
    .filter(({ parent, kind, forkedAt }) => parent === id && kind === "main" && forkedAt !== null)
    .map(({ forkedAt, updatedAt }) => ({ seq: forkedAt!, at: updatedAt, kind: "fork" }));
  const shown = marks
    .filter(({ kind }) => kind !== "request")
    .map(({ seq, at, kind }) => ({ seq, at, kind: /overflow/.test(kind) ? "overflow" : kind }));
  return [...shown, ...forks].toSorted((a, b) => a.seq - b.seq);
}

function Legend({ marks }: { readonly marks: readonly MarkFacts[] }) {
  const counts = Map.groupBy(marks, ({ kind }) => kind);
  return (
    <ul class="row wrap legend push">
      {[...counts].map(([kind, some]) => (
        <li key={kind} class={`small kind legend-${kind}`}>
          {kind} <span class="dim number">{some.length}</span>
        </li>
      ))}
    </ul>
  );
}
