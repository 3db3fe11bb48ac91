/** The window as one line: how full it is, and a segment for each part, named to whoever can't see it. */
import { grouped, percent } from "../text/format.ts";
import { type ContextFacts, segmentsOf } from "./bar.ts";

export function ContextBar({ context }: { readonly context: ContextFacts | null }) {
  if (context === null) return <div class="context-bar waiting" aria-hidden="true" />;
  const segments = segmentsOf(context);
  const { total, window } = context;
  const words = segments.map(({ label, tokens }) => `${label} ${grouped(tokens)}`).join(", ");
  return (
    <div class="context-line">
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
      <span class="dim small number nowrap">
        {percent(total / Math.max(window, 1))}{" "}
        <span class="wide">
          · {grouped(total)} of {grouped(window)}
        </span>
      </span>
    </div>
  );
}
