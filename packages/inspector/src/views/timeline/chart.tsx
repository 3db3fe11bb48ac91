/** The curve one drags along: a slider for hand and keyboard, with a mark for each thing that happened to the thread. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ago, grouped, moment, short } from "../../text/format.ts";
import {
  axisOf,
  type CurveSize,
  curveOf,
  indexAt,
  type MarkFacts,
  placedMarks,
  type RequestPoint,
  stepsOf,
  topOf,
  windowLines,
  xOf,
  yOf,
} from "./curve.ts";
import { KINDS, type KindSample, stackOf } from "./stack.ts";
import type { ChartStretch } from "./stretch.ts";
import { Tip } from "./tip.tsx";

interface ChartProps {
  readonly requests: readonly RequestPoint[];
  readonly marks: readonly MarkFacts[];
  readonly stretch: ChartStretch;
  readonly index: number;
  /** The request it is compared with; null: none is. */
  readonly other: number | null;
  /** The areas are of kinds: until these are here, only the line is drawn. */
  readonly isByKind: boolean;
  /** What filled some of the requests; null: not asked for, or not here yet. */
  readonly samples: readonly KindSample[] | null;
  readonly onMove: (index: number) => void;
  /** Two requests, where a hand or the keys marked what lies between them. */
  readonly onRange: (from: number, to: number) => void;
  readonly onZoom: (times: number, around: number) => void;
}

const HEIGHT = 214;
const LEFT = 40;
const RIGHT = 12;
const TOP = 14;
const FOOT = 22;

/** What is worth a line through the whole curve; the others are a tick at its foot. */
const LINES: ReadonlySet<string> = new Set(["compaction", "prune", "undo", "fork", "overflow"]);

export function Chart(props: ChartProps) {
  const { requests, marks, stretch, index, other, onMove, onRange, onZoom } = props;
  const element = useRef<HTMLDivElement>(null);
  const from = useRef<number | null>(null);
  const [width, setWidth] = useState(800);
  const [pointed, setPointed] = useState<number | null>(null);
  useLayoutEffect(() => {
    const frame = element.current;
    if (frame === null) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(120, frame.clientWidth)));
    observer.observe(frame);
    return () => observer.disconnect();
  }, []);
  const size = { width: width - LEFT - RIGHT, height: HEIGHT - TOP - FOOT };
  const count = requests.length;
  const current = requests[index];
  const under = ({ clientX, currentTarget }: PointerEvent | WheelEvent) => {
    const { left } = (currentTarget as Element).getBoundingClientRect();
    return indexAt(clientX - left - LEFT, stretch, size);
  };
  const drag = (event: PointerEvent) => {
    if (from.current === null) onMove(under(event));
    else onRange(from.current, under(event));
  };
  return (
    <div
      ref={element}
      class="chart"
      role="slider"
      tabIndex={0}
      aria-label="Request"
      aria-valuemin={1}
      aria-valuemax={Math.max(1, count)}
      aria-valuenow={index + 1}
      aria-valuetext={
        current === undefined
          ? "none"
          : `request ${index + 1} of ${count}, ${grouped(current.input)} tokens, ${ago(current.at, new Date())}`
      }
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = event.shiftKey ? under(event) : null;
        drag(event);
      }}
      onPointerMove={(event) => {
        setPointed(under(event));
        if (event.currentTarget.hasPointerCapture(event.pointerId)) drag(event);
      }}
      onPointerLeave={() => setPointed(null)}
      onWheel={(event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        onZoom(event.deltaY < 0 ? 1.4 : 1 / 1.4, under(event));
      }}
      onKeyDown={(event) => {
        const next = keyed(event.key, index, count);
        if (next === null) return;
        event.preventDefault();
        if (event.shiftKey) onRange(other ?? index, next);
        else onMove(next);
      }}
    >
      <svg height={HEIGHT} width={width} aria-hidden="true">
        <g transform={`translate(${LEFT},${TOP})`}>
          <Drawing {...props} size={size} />
        </g>
      </svg>
      {pointed !== null && (
        <Tip
          requests={requests}
          marks={marks}
          index={pointed}
          x={LEFT + xOf(pointed, stretch.first, stretch.last, size)}
          width={width}
        />
      )}
    </div>
  );
}

function Drawing({
  requests,
  marks,
  stretch,
  index,
  other,
  isByKind,
  samples,
  size,
}: ChartProps & { readonly size: CurveSize }) {
  const { first, last } = stretch;
  const { height } = size;
  const inputs = requests.map(({ input }) => input);
  const windows = requests.map(({ window }) => window);
  const most = topOf(requests, stretch);
  const { line, area } = curveOf(inputs, stretch, most, size);
  const x = (at: number) => xOf(at, first, last, size);
  const y = (tokens: number) => yOf(tokens, most, size);
  const seqs = requests.map(({ seq }) => seq);
  const taken = new Map<number, number>();
  const shown = windows.slice(first, last + 1).findLast((one) => one !== null) ?? null;
  return (
    <>
      {axisOf(most).map((tokens) => (
        <g key={tokens}>
          <line class="grid" x1={0} x2={size.width} y1={y(tokens)} y2={y(tokens)} />
          <text class="label end" x={-6} y={y(tokens) + 4}>
            {short(tokens)}
          </text>
        </g>
      ))}
      <line class="foot" x1={0} x2={size.width} y1={height} y2={height} />
      {timesOf(requests, stretch, size).map(({ step, words }) => (
        <text
          key={step}
          class={`label ${first === last ? "middle" : step === first ? "" : step === last ? "end" : "middle"}`}
          x={x(step)}
          y={height + 16}
        >
          {words}
        </text>
      ))}
      {samples === null
        ? isByKind || <path class="area" d={area} />
        : stackOf(samples, stretch, most, size).map(({ name, color, path }) => (
            <path key={name} class={`kind-area dot-${color}`} d={path} />
          ))}
      {other !== null && (
        <Between from={x(Math.max(other, first))} to={x(Math.min(Math.max(index, first), last))} height={height} />
      )}
      <path class="line" d={line} />
      <path class="limit" d={windowLines(windows, stretch, most, size)} />
      {shown !== null && (
        <text class="label limit-words" x={4} y={shown > most ? 2 : y(shown) - 4}>
          window {short(shown)}
          {shown > most && ", above"}
        </text>
      )}
      {placedMarks(marks, seqs, stretch, size).map(({ kind, seq, index: at, count }) => {
        if (!LINES.has(kind))
          return <line key={`${kind}${seq}`} class="tick" x1={x(at)} x2={x(at)} y1={height - 5} y2={height} />;
        // Others that stand there push it aside.
        const aside = taken.get(at) ?? 0;
        taken.set(at, aside + (count > 1 ? 14 : 9));
        return (
          <g key={`${kind}${seq}`} class={`mark legend-${kind}`}>
            <line x1={x(at)} x2={x(at)} y1={-4} y2={height} />
            <circle cx={x(at) - aside} cy={-6} r={count > 1 ? 7 : 4} />
            {count > 1 && (
              <text class="label middle" x={x(at) - aside} y={-3}>
                {Math.min(count, 99)}
              </text>
            )}
          </g>
        );
      })}
      {[other, index].map(
        (at, which) =>
          at !== null &&
          at >= first &&
          at <= last && (
            <g key={which === 0 ? "other" : "here"} class={which === 0 ? "here other" : "here"}>
              <line x1={x(at)} x2={x(at)} y1={-TOP} y2={height} />
              <circle cx={x(at)} cy={y(inputs[at] ?? 0)} r={5} />
            </g>
          ),
      )}
    </>
  );
}

function Between({ from, to, height }: { readonly from: number; readonly to: number; readonly height: number }) {
  return <rect class="between" x={Math.min(from, to)} width={Math.abs(to - from)} y={-TOP} height={height + TOP} />;
}

/** A time for the axis below, where it differs from the one before. */
function timesOf(requests: readonly RequestPoint[], stretch: ChartStretch, size: CurveSize) {
  const span = Date.parse(requests[stretch.last]?.at ?? "") - Date.parse(requests[stretch.first]?.at ?? "");
  return stepsOf(stretch, size)
    .map((step) => ({ step, words: moment(requests[step]?.at ?? "", span) }))
    .filter(({ words }, at, all) => words !== all[at - 1]?.words);
}

export function KindLegend({ samples }: { readonly samples: readonly KindSample[] }) {
  const seen = new Set(samples.flatMap(({ parts }) => Object.keys(parts).filter((part) => (parts[part] ?? 0) > 0)));
  return (
    <ul class="row wrap legend" aria-label="Kinds">
      {KINDS.filter(({ parts }) => parts.some((part) => seen.has(part))).map(({ name, color }) => (
        <li key={name} class={`small kind dot-${color}`}>
          {name}
        </li>
      ))}
    </ul>
  );
}

function keyed(key: string, index: number, count: number): number | null {
  const by: Readonly<Record<string, number>> = {
    ArrowLeft: -1,
    ArrowDown: -1,
    ArrowRight: 1,
    ArrowUp: 1,
    PageDown: -10,
    PageUp: 10,
    Home: -count,
    End: count,
  };
  const step = by[key];
  return step === undefined ? null : Math.min(Math.max(index + step, 0), count - 1);
}
