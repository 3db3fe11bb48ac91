/** The whole curve in small, with the stretch that the chart shows: dragged along, it moves. The buttons and keys do the same. */
import { useRef } from "preact/hooks";
import { curveOf, indexAt, type RequestPoint, topOf } from "./curve.ts";
import { type ChartStretch, wholeStretch } from "./stretch.ts";

interface OverviewProps {
  readonly requests: readonly RequestPoint[];
  readonly stretch: ChartStretch;
  /** Where its middle shall be. */
  readonly onMove: (index: number) => void;
}

const SIZE = { width: 1000, height: 26 };

export function Overview({ requests, stretch: { first, last }, onMove }: OverviewProps) {
  const element = useRef<HTMLDivElement>(null);
  const whole = wholeStretch(requests.length);
  const inputs = requests.map(({ input }) => input);
  const share = (index: number) => `${(index / Math.max(1, whole.last)) * 100}%`;
  const move = ({ clientX }: PointerEvent) => {
    const { left, width } = element.current?.getBoundingClientRect() ?? { left: 0, width: 1 };
    onMove(indexAt(clientX - left, whole, { width }));
  };
  return (
    <div
      ref={element}
      class="overview"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        move(event);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) move(event);
      }}
    >
      <svg viewBox={`0 0 ${SIZE.width} ${SIZE.height}`} preserveAspectRatio="none" aria-hidden="true">
        <path class="area" d={curveOf(inputs, whole, topOf(requests, whole), SIZE).area} />
      </svg>
      <i style={{ left: share(first), width: share(last - first) }} />
    </div>
  );
}
