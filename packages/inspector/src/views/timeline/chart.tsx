/** The curve one drags along: a slider for hand and keyboard, with a mark for each thing that happened to the thread. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ago, grouped, short } from "../../text/format.ts";
import {
  axisOf,
  curveOf,
  indexAt,
  type MarkFacts,
  type RequestFacts,
  requestFrom,
  windowLines,
  xOf,
  yOf,
} from "./curve.ts";

interface ChartProps {
  readonly requests: readonly RequestFacts[];
  readonly marks: readonly MarkFacts[];
  readonly index: number;
  readonly onMove: (index: number) => void;
}

const HEIGHT = 190;

/** What is worth a line through the whole curve; the others are a tick at its foot. */
const LINES: Readonly<Record<string, string>> = {
  compaction: "summary",
  prune: "tool",
  undo: "focus",
  fork: "user",
  overflow: "bad",
};

export function Chart({ requests, marks, index, onMove }: ChartProps) {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(800);
  useLayoutEffect(() => {
    const frame = element.current!;
    const observer = new ResizeObserver(() => setWidth(Math.max(100, frame.clientWidth)));
    observer.observe(frame);
    return () => observer.disconnect();
  }, []);
  const size = { width, height: HEIGHT };
  const count = requests.length;
  const inputs = requests.map(({ input }) => input);
  const seqs = requests.map(({ seq }) => seq);
  const windows = requests.map(({ window }) => window);
  const { line, area, most } = curveOf(inputs, size, Math.max(0, ...new Set(windows.map((one) => one ?? 0))));
  const last = windows.findLast((one) => one !== null) ?? null;
  const current = requests[index];
  const drag = (event: PointerEvent) => {
    const { left } = element.current!.getBoundingClientRect();
    onMove(indexAt(event.clientX - left, count, size));
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
        drag(event);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) drag(event);
      }}
      onKeyDown={(event) => {
        const next = keyed(event.key, index, count);
        if (next === null) return;
        event.preventDefault();
        onMove(next);
      }}
    >
      <svg height={HEIGHT} width={width} aria-hidden="true">
        <path class="area" d={area} />
        <path class="line" d={line} />
        {axisOf(most).map((tokens) => (
          <g key={tokens}>
            <line class="grid" x1={0} x2={width} y1={yOf(tokens, most, size)} y2={yOf(tokens, most, size)} />
            <text class="label figure" x={width - 4} y={yOf(tokens, most, size) - 3}>
              {short(tokens)}
            </text>
          </g>
        ))}
        <path class="limit" d={windowLines(windows, most, size)} />
        {last !== null && (
          <text class="label" x={6} y={yOf(last, most, size) + 14}>
            window {short(last)}
          </text>
        )}
        {marks.map((mark) => {
          const color = LINES[mark.kind];
          const x = xOf(requestFrom(seqs, mark.seq), count, size);
          return color === undefined ? (
            <line key={`${mark.kind}${mark.seq}`} class="tick" x1={x} x2={x} y1={HEIGHT - 5} y2={HEIGHT} />
          ) : (
            <g key={`${mark.kind}${mark.seq}`} class={`mark mark-${color}`}>
              <line x1={x} x2={x} y1={10} y2={HEIGHT} />
              <circle cx={x} cy={8} r={4} />
            </g>
          );
        })}
        {current !== undefined && (
          <g class="here">
            <line x1={xOf(index, count, size)} x2={xOf(index, count, size)} y1={0} y2={HEIGHT} />
            <circle cx={xOf(index, count, size)} cy={yOf(current.input, most, size)} r={5} />
          </g>
        )}
      </svg>
    </div>
  );
}

function keyed(key: string, index: number, count: number): number | null {
  const to: Readonly<Record<string, number>> = {
    ArrowLeft: index - 1,
    ArrowDown: index - 1,
    ArrowRight: index + 1,
    ArrowUp: index + 1,
    PageDown: index - 10,
    PageUp: index + 10,
    Home: 0,
    End: count - 1,
  };
  const next = to[key];
  return next === undefined ? null : Math.min(Math.max(next, 0), count - 1);
}
