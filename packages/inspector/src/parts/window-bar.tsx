/** What fills a window, large enough to read: a segment a part, each named where there is room and always on request. */
import { grouped, percent } from "../text/format.ts";
import { type ContextFacts, edgeOf, segmentsOf } from "./bar.ts";

interface WindowBarProps {
  readonly context: ContextFacts;
  readonly size: "large" | "small";
  /** What it shows, for screen readers. */
  readonly label: string;
}

/** Below this a name is cut to nothing. */
const NAMED_SHARE = 0.055;

export function WindowBar({ context, size, label }: WindowBarProps) {
  const segments = segmentsOf(context);
  const words = segments.map(({ label: name, tokens }) => `${name} ${grouped(tokens)}`).join(", ");
  const edge = edgeOf(context);
  return (
    <div class={`window-frame ${edge === null ? "" : "over"}`}>
      <div
        class={`window-bar ${size}`}
        role="img"
        aria-label={`${label}${edge === null ? "" : `, more than the window of ${grouped(context.window)}`}: ${words}`}
      >
        {segments.map(({ part, label: name, tokens, share }) => (
          <span
            key={name}
            class={`part-${part}`}
            style={{ width: `${share * 100}%` }}
            title={`${name}: ${grouped(tokens)} tokens, ${percent(share)}`}
          >
            {size === "large" && share > NAMED_SHARE && <b>{name}</b>}
          </span>
        ))}
      </div>
      {edge !== null && <WindowEnd edge={edge} window={context.window} isNamed={size === "large"} />}
    </div>
  );
}

interface WindowEndProps {
  /** Of the bar's width. */
  readonly edge: number;
  readonly window: number;
  readonly isNamed: boolean;
}

/** A line where the window ends; what stands behind it is hatched. */
export function WindowEnd({ edge, window, isNamed }: WindowEndProps) {
  return (
    <>
      <span class="beyond" aria-hidden="true" style={{ left: `${edge * 100}%` }} />
      <span class={`window-end ${edge > 0.6 ? "to-left" : ""}`} aria-hidden="true" style={{ left: `${edge * 100}%` }}>
        {isNamed && <span class="window-end-words">window ends: {grouped(window)}</span>}
      </span>
    </>
  );
}
