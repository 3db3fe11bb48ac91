/** A thread over time: the tokens of every request, what happened when, and the exact request of any past turn. */
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../../api/answer.ts";
import { type AskAnswer, ask, notAsked } from "../../api/ask.ts";
import { threads, useThreadChange } from "../../api/threads.ts";
import { useActions } from "../../keyboard/actions.ts";
import { Empty } from "../../parts/empty.tsx";
import { place, select } from "../../router/navigate.ts";
import { addressOf } from "../../router/place.ts";
import { counted, dollars } from "../../text/format.ts";
import { ofThread, Unread } from "../of-thread.tsx";
import { threadName } from "../thread-name.ts";
import { Chart, KindLegend } from "./chart.tsx";
import { type MarkFacts, requestFrom } from "./curve.ts";
import { Moment } from "./moment.tsx";
import { Overview } from "./overview.tsx";
import { type KindSample, sampled } from "./stack.ts";
import {
  between,
  type ChartStretch,
  centered,
  isWhole,
  showing,
  stretchOf,
  stretchText,
  wholeStretch,
  zoomed,
} from "./stretch.ts";

export type Timeline = AskAnswer<"GET /api/threads/{id}/timeline">;

export const TimelineView = ofThread(ThreadTimeline);

function ThreadTimeline({ id }: { readonly id: string }) {
  const held = useAnswer(`timeline ${id}`, () => ask("GET /api/threads/{id}/timeline", { params: { id } }));
  useThreadChange(id, held.reload);
  if (held.value === null) return <Unread id={id} what="the timeline" held={held} />;
  return (
    <div class="timeline-view">
      {held.value.requests.length === 0 ? (
        <>
          <h1 dir="auto">{threadName(id)}</h1>
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
        <Played id={id} timeline={held.value} />
      )}
    </div>
  );
}

interface PlayedProps {
  readonly id: string;
  readonly timeline: Timeline;
}

function Played({ id, timeline }: PlayedProps) {
  const { requests } = timeline;
  const count = requests.length;
  const marks = marksOf(id, timeline);
  const seqs = requests.map(({ seq }) => seq);
  const indexOf = (seq: number) => requestFrom(seqs, seq);
  const { at, from, zoom } = place.value.query;
  const [dragged, setDragged] = useState<number | null>(null);
  const [isByKind, setByKind] = useState(true);
  const index = dragged ?? (Number.isNaN(Number(at ?? Number.NaN)) ? count - 1 : indexOf(Number(at)));
  const other = from === undefined || Number.isNaN(Number(from)) ? null : indexOf(Number(from));
  const stretch = stretchOf(zoom, indexOf, count) ?? wholeStretch(count);
  const change = (query: Readonly<Record<string, string | null>>) => {
    const kept = Object.entries({ ...place.value.query, ...query }).filter(([, value]) => value !== null);
    select(Object.fromEntries(kept) as Record<string, string>);
  };
  const show = (next: ChartStretch) => change({ zoom: isWhole(next, count) ? null : stretchText(next, seqs) });
  const move = (next: number) => {
    setDragged(next);
    if (next < stretch.first || next > stretch.last) show(showing(stretch, next, count));
  };
  const zoomBy = (times: number, around = index) => show(zoomed(stretch, times, around, count));
  useEffect(() => {
    if (dragged === null) return;
    // While one drags, only where one stops is asked for.
    const timer = setTimeout(() => {
      change({ at: String(seqs[dragged]) });
      setDragged(null);
    }, 120);
    return () => clearTimeout(timer);
  }, [dragged]);
  const compactions = marks.filter(({ kind }) => kind === "compaction");
  const jump = (step: 1 | -1) => {
    const here = seqs[index] ?? 0;
    const next =
      step === 1 ? compactions.find(({ seq }) => seq > here) : compactions.findLast(({ seq }) => indexOf(seq) < index);
    if (next !== undefined) move(indexOf(next.seq));
  };
  const compare = () => change({ from: other === null ? String(seqs[index]) : null });
  const step = (to: number) => move(Math.min(Math.max(index + to, 0), count - 1));
  useActions(
    [
      { name: "Next request", key: "ArrowRight", run: () => step(1) },
      { name: "Request before", key: "ArrowLeft", run: () => step(-1) },
      { name: "Next compaction", key: "]", run: () => jump(1) },
      { name: "Compaction before", key: "[", run: () => jump(-1) },
      { name: other === null ? "Compare with this request" : "Stop comparing", key: "m", run: compare },
      { name: "Zoom in", key: "+", run: () => zoomBy(2) },
      { name: "Zoom out", key: "-", run: () => zoomBy(0.5) },
      { name: "Show every request", key: "0", run: () => show(wholeStretch(count)) },
    ],
    `${id} ${index} ${compactions.length} ${other} ${zoom}`,
  );
  const samples = useKindSamples(id, timeline, { stretch, marks, isWanted: isByKind });
  const spent = requests.reduce((sum, { cost }) => sum + (cost ?? 0), 0);
  return (
    <>
      <header class="row wrap">
        <h1 class="cut" dir="auto">
          {threadName(id)}
        </h1>
        <span class="dim number">
          {counted(count, "request")} · {counted(compactions.length, "compaction")}
          {spent > 0 && ` · ${dollars(spent)}`}
        </span>
      </header>
      <section class="card stack" aria-label="Tokens of every request">
        <div class="row wrap">
          <h2>Tokens of every request</h2>
          <div class="row push chart-acts">
            <button type="button" class="button" aria-pressed={isByKind} onClick={() => setByKind(!isByKind)}>
              By kind
            </button>
            <button type="button" class="button" aria-pressed={other !== null} onClick={compare}>
              {other === null ? "Compare" : "Stop comparing"}
            </button>
            {other !== null && other !== index && (
              <button type="button" class="button" onClick={() => show(between(other, index, count))}>
                Zoom to these
              </button>
            )}
            <ZoomButtons isWhole={isWhole(stretch, count)} onZoom={zoomBy} onAll={() => show(wholeStretch(count))} />
          </div>
        </div>
        <Chart
          requests={requests}
          marks={marks}
          stretch={stretch}
          index={index}
          other={other}
          isByKind={isByKind}
          samples={samples}
          onMove={move}
          onRange={(one, next) => {
            change({ from: String(seqs[one]) });
            move(next);
          }}
          onZoom={zoomBy}
        />
        {!isWhole(stretch, count) && (
          <Overview requests={requests} stretch={stretch} onMove={(middle) => show(centered(stretch, middle, count))} />
        )}
        <div class="row wrap">
          {samples !== null && <KindLegend samples={samples} />}
          <Legend marks={marks} />
        </div>
      </section>
      <Moment id={id} timeline={timeline} index={index} other={other} isMoving={dragged !== null} />
    </>
  );
}

interface ZoomButtonsProps {
  readonly isWhole: boolean;
  readonly onZoom: (times: number) => void;
  readonly onAll: () => void;
}

function ZoomButtons({ isWhole: isAll, onZoom, onAll }: ZoomButtonsProps) {
  return (
    <span class="row joined">
      <button type="button" class="button" aria-label="Zoom out" disabled={isAll} onClick={() => onZoom(0.5)}>
        −
      </button>
      <button type="button" class="button" disabled={isAll} onClick={onAll}>
        All
      </button>
      <button type="button" class="button" aria-label="Zoom in" onClick={() => onZoom(2)}>
        +
      </button>
    </span>
  );
}

interface KindQuestion {
  readonly stretch: ChartStretch;
  readonly marks: readonly MarkFacts[];
  readonly isWanted: boolean;
}

/** Asked for behind the curve, which doesn't wait for it. Null until it is here, and where it fails: the curve stays. */
function useKindSamples(
  id: string,
  { requests }: Timeline,
  { stretch, marks, isWanted }: KindQuestion,
): readonly KindSample[] | null {
  const seqs = requests.map(({ seq }) => seq);
  const falls = marks.filter(({ kind }) => FALLS.has(kind)).map(({ seq }) => requestFrom(seqs, seq));
  const indexes = isWanted ? sampled(stretch, falls) : [];
  const at = indexes.map((index) => Math.max(1, (seqs[index] ?? 1) - 1)).join(",");
  const { value } = useAnswer<Moments | null>(`parts ${id} ${at}`, () =>
    at === "" ? notAsked() : ask("GET /api/threads/{id}/parts", { params: { id }, query: { at } }),
  );
  if (value === null || value.moments.length === 0) return null;
  const byRecord = new Map(value.moments.map((moment) => [moment.at, moment.parts]));
  return indexes.flatMap((index) => {
    const request = requests[index];
    const parts = request && byRecord.get(Math.max(1, request.seq - 1));
    return request === undefined || parts === undefined ? [] : [{ index, input: request.input, parts }];
  });
}

type Moments = AskAnswer<"GET /api/threads/{id}/parts">;

/** After these a prompt may be smaller than before. */
const FALLS: ReadonlySet<string> = new Set(["compaction", "prune", "undo", "redo"]);

/** Forks of it are marks as well, though its own log doesn't know of them. */
function marksOf(id: string, { marks }: Timeline): readonly MarkFacts[] {
  const forks = [...threads.value.values()]
    .filter(({ parent, kind, forkedAt }) => parent === id && kind === "main" && forkedAt !== null)
    .map(({ forkedAt, updatedAt }) => ({ seq: forkedAt ?? 0, at: updatedAt, kind: "fork" }));
  const shown = marks
    .filter(({ kind }) => kind !== "request")
    .map((mark) => ({ ...mark, kind: /overflow/.test(mark.kind) ? "overflow" : mark.kind }));
  return [...shown, ...forks].toSorted((a, b) => a.seq - b.seq);
}

function Legend({ marks }: { readonly marks: readonly MarkFacts[] }) {
  const counts = Map.groupBy(marks, ({ kind }) => kind);
  return (
    <ul class="row wrap legend marks push" aria-label="What happened">
      {[...counts].map(([kind, some]) => (
        <li key={kind} class={`small kind legend-${kind}`}>
          {kind} <span class="dim number">{some.length}</span>
        </li>
      ))}
    </ul>
  );
}
