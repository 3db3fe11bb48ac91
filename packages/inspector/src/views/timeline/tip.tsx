/** What stands under the pointer on the chart. The slider says the same to keyboard and screen-reader users. */
import { dollars, grouped, percent, visible } from "../../text/format.ts";
import { type MarkFacts, type RequestPoint, requestFrom } from "./curve.ts";

interface TipProps {
  readonly requests: readonly RequestPoint[];
  readonly marks: readonly MarkFacts[];
  readonly index: number;
  /** Where the request stands on the chart, and how wide that is. */
  readonly x: number;
  readonly width: number;
}

const MOST_MARKS = 4;
/** As the styles have it. */
const WIDEST = 280;

export function Tip({ requests, marks, index, x, width }: TipProps) {
  const request = requests[index];
  if (request === undefined) return null;
  const { input, window, cost, model, at, seq } = request;
  const seqs = requests.map((one) => one.seq);
  const here = marks.filter((mark) => requestFrom(seqs, mark.seq) === index);
  // On a narrow chart it covers the point rather than leave the page.
  const away = Math.min((x > width / 2 ? width - x : x) + 12, Math.max(0, width - WIDEST));
  const style = { [x > width / 2 ? "right" : "left"]: `${away}px` };
  return (
    <div class="tip small" style={style} aria-hidden="true">
      <strong class="number">
        {grouped(input)} tokens{window !== null && ` · ${percent(input / window)} of ${grouped(window)}`}
      </strong>
      <span class="dim number">
        request {grouped(index + 1)} of {grouped(requests.length)}, answered by #{seq}
      </span>
      <span class="dim">
        {visible(model)}
        {cost !== null && ` · ${dollars(cost)}`} · {new Date(at).toLocaleString("en-US", WHEN)}
      </span>
      {here.slice(0, MOST_MARKS).map((mark) => (
        <span key={`${mark.kind}${mark.seq}`} class={`kind number legend-${mark.kind}`}>
          {markWords(mark)}
        </span>
      ))}
      {here.length > MOST_MARKS && <span class="dim">and {grouped(here.length - MOST_MARKS)} more</span>}
    </div>
  );
}

const WHEN = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hour12: false } as const;

function markWords({ kind, seq, tokensBefore, tokensAfter }: MarkFacts): string {
  const isSized = typeof tokensBefore === "number" && typeof tokensAfter === "number";
  return `${kind} #${seq}${isSized ? `: ${grouped(tokensBefore)} → ${grouped(tokensAfter)}` : ""}`;
}
