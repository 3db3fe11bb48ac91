/** One message as it was said, part by part, however long: what is cut is told, and the rest is a click away. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAnswer } from "../../api/answer.ts";
import { ask } from "../../api/ask.ts";
import { linesForgotten, type StreamLine } from "../../api/lines.ts";
import { ProblemNote } from "../../parts/problem.tsx";
import { ago, grouped, visible } from "../../text/format.ts";

interface MessageDetailProps {
  readonly threadId: string;
  readonly seq: number;
  /** What stands above the message, if there is one. */
  readonly head?: (line: StreamLine) => ComponentChildren;
}

const FIRST = 4000;
const WHOLE = 5_000_000;

export function MessageDetail({ threadId, seq, head }: MessageDetailProps) {
  const [length, setLength] = useState(FIRST);
  const { value, problem, reload } = useAnswer(`message ${threadId} ${seq} ${length} ${linesForgotten.value}`, () =>
    ask("GET /api/threads/{id}/lines", { params: { id: threadId }, query: { seqs: seq, length } }),
  );
  if (problem !== null) return <ProblemNote problem={problem} retry={reload} />;
  const [said] = value?.lines ?? [];
  if (value === null) return <p class="dim">Reading…</p>;
  if (said === undefined) return <p class="dim">There is no message at #{seq} of this thread.</p>;
  return (
    <>
      {head?.(said)}
      <Said line={said} onMore={() => setLength(WHOLE)} />
    </>
  );
}

/** Origins that say nothing new: who spoke stands beside them, and an imported thread is imported throughout. */
const USUAL: ReadonlySet<string> = new Set(["user", "model", "tool", "import"]);

export function Said({ line, onMore }: { readonly line: StreamLine; readonly onMore?: () => void }) {
  const { seq, role, origin, at, parts } = line;
  return (
    <article class="said">
      <header class="row dim small">
        <span class="mono">#{seq}</span>
        <span class={`kind dot-${role}`}>{role}</span>
        {!USUAL.has(origin) && <span class="pill">{origin}</span>}
        <time class="push" dateTime={at} title={at}>
          {ago(at, new Date())}
        </time>
      </header>
      {parts.map(({ kind, text, length, name, isError }, index) => (
        <div key={index}>
          {kind !== "text" && (
            <p class="dim small">
              {kind === "result" ? "result" : kind} {name !== undefined && <code>{visible(name)}</code>}
              {isError && <span class="bad"> failed</span>}
            </p>
          )}
          {text !== "" &&
            (kind === "text" || kind === "reasoning" ? (
              <p class="words" dir="auto">
                {visible(text)}
              </p>
            ) : (
              <pre>{visible(text)}</pre>
            ))}
          {text.length < length && (
            <button type="button" class="button plain more" onClick={onMore} disabled={onMore === undefined}>
              {grouped(length - text.length)} more characters
            </button>
          )}
        </div>
      ))}
    </article>
  );
}
