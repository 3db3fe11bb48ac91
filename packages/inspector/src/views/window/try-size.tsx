/** Tries another window: its edge is dragged, or moved by keys, and what a request would be there is shown. Nothing is written. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useAnswer } from "../../api/answer.ts";
import { type AskAnswer, ask, notAsked } from "../../api/ask.ts";
import { wholeOf } from "../../parts/bar.ts";
import { ProblemNote } from "../../parts/problem.tsx";
import { WindowBar } from "../../parts/window-bar.tsx";
import { grouped, percent } from "../../text/format.ts";
import { sizeAfter, sizeAt, tryRange } from "./window-size.ts";
import type { WindowFacts } from "./window-view.tsx";

type TriedSize = AskAnswer<"GET /api/threads/{id}/context">;

/** Only where one stops is asked for. */
const PAUSE_MS = 150;

export function TrySize({ id, window }: { readonly id: string; readonly window: WindowFacts }) {
  const [size, setSize] = useState<number | null>(null);
  const [asked, setAsked] = useState<number | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(size), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [size]);
  const tried = useAnswer<TriedSize | null>(`try ${id} ${asked} ${window.at}`, () =>
    asked === null ? notAsked() : ask("GET /api/threads/{id}/context", { params: { id }, query: { window: asked } }),
  );
  return (
    <div class="stack try-size">
      <Edge window={window} size={size ?? window.window} onSize={setSize} />
      {size !== null && (
        <div class="row wrap">
          <span class="number" role="status">
            {tried.value === null || tried.value.window !== size
              ? `A window of ${grouped(size)} tokens…`
              : triedWords(tried.value)}
          </span>
          <button type="button" class="button push" onClick={() => setSize(null)}>
            Back to {grouped(window.window)}
          </button>
        </div>
      )}
      {tried.problem !== null && size !== null && <ProblemNote problem={tried.problem} />}
      {size !== null && tried.value !== null && <WindowBar context={tried.value} size="small" label="Tried" />}
    </div>
  );
}

function triedWords({ window, total, simulated }: TriedSize): string {
  const share = `${grouped(total)} tokens, ${percent(total / Math.max(window, 1))}`;
  const start = `In a window of ${grouped(window)} the next request would have ${share}`;
  return simulated ? `${start}, after a compaction.` : `${start}: nothing has to give.`;
}

interface EdgeProps {
  readonly window: WindowFacts;
  readonly size: number;
  readonly onSize: (size: number) => void;
}

function Edge({ window, size, onSize }: EdgeProps) {
  const track = useRef<HTMLDivElement>(null);
  const range = tryRange(window.window, wholeOf(window));
  const share = Math.min(size / range.most, 1);
  const move = (event: PointerEvent) => {
    const { left, width } = track.current!.getBoundingClientRect();
    onSize(sizeAt((event.clientX - left) / Math.max(width, 1), range));
  };
  return (
    <div class="edge-track" ref={track}>
      <div
        class="edge"
        role="slider"
        tabIndex={0}
        aria-label="Try another window size"
        aria-valuemin={range.least}
        aria-valuemax={range.most}
        aria-valuenow={size}
        aria-valuetext={`${grouped(size)} tokens`}
        title="Drag, or use the arrow keys, to try another window"
        style={{ left: `${share * 100}%` }}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={(event) => {
          if (event.currentTarget.hasPointerCapture(event.pointerId)) move(event);
        }}
        onKeyDown={(event) => {
          const next = sizeAfter(event.key, size, range);
          if (next === null) return;
          event.preventDefault();
          onSize(next);
        }}
      />
      <span
        class="dim small edge-words"
        aria-hidden="true"
        style={{ [share < 0.5 ? "left" : "right"]: `calc(${Math.min(share, 1 - share) * 100}% + 14px)` }}
      >
        drag the edge to try another window
      </span>
    </div>
  );
}
