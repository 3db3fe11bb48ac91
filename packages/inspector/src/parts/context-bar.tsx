/** The window as one line: how full it is, and a segment for each part, named for screen readers. */
import { grouped } from "../text/format.ts";
import { type ContextFacts, edgeOf, fullnessWords, segmentsOf } from "./bar.ts";
import { WindowEnd } from "./window-bar.tsx";

export function ContextBar({ context }: { readonly context: ContextFacts | null }) {
  if (context === null) return <div class="context-bar waiting" aria-hidden="true" />;
  const segments = segmentsOf(context);
  const edge = edgeOf(context);
  const { total, window } = context;
  const words = segments.map(({ label, tokens }) => `${label} ${grouped(tokens)}`).join(", ");
  return (
    <div class="context-line">
      <div class={`window-frame ${edge === null ? "" : "over"}`}>
        <div class="context-bar" role="img" aria-label={`${grouped(total)} of ${grouped(window)} tokens: ${words}`}>
          {segments.map(({ part, label, tokens, share }) => (
            <span
              key={label}
              class={`part-${part}`}
              title={`${label}: ${grouped(tokens)} tokens`}
              style={{ width: `${share * 100}%` }}
            />
          ))}
        </div>
        {edge !== null && <WindowEnd edge={edge} window={window} isNamed={false} />}
      </div>
      <span class={`small number nowrap ${total > window ? "bad" : "dim"}`}>
        {fullnessWords(total, window)}{" "}
        <span class="wide">
          · {grouped(total)} of {grouped(window)}
        </span>
      </span>
    </div>
  );
}
