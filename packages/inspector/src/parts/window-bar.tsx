/** What fills a window, large enough to read: a segment a part, each named where there is room and always on request. */
import { grouped, percent } from "../text/format.ts";
import { type ContextFacts, segmentsOf } from "./bar.ts";

interface WindowBarProps {
  readonly context: ContextFacts;
  readonly size: "large" | "small";
  /** What it shows, for whoever can't see it. */
  readonly label: string;
}

/** Below this a name is cut to nothing. */
const NAMED_SHARE = 0.055;

export function WindowBar({ context, size, label }: WindowBarProps) {
  const segments = segmentsOf(context);
  const words = segments.map(({ label: name, tokens }) => `${name} ${grouped(tokens)}`).join(", ");
  return (
    <div class={`window-bar ${size}`} role="img" aria-label={`${label}: ${words}`}>
      {segments.map(({ part, label: name, tokens, share }) => (
        <span
          key={name}
          class={`part-${part}`}
          style={{ width: `${share * 100}%` }}
          title={`${name}: ${grouped(tokens)} tokens, ${percent(share)}`}
        >
          {size === "large" && share > NAMED_SHARE ? name : ""}
        </span>
      ))}
    </div>
  );
}
