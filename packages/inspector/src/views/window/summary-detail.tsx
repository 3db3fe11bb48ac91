/** A summary item by item, and beside each item the turns it comes from, word for word. */
import { useState } from "preact/hooks";
import type { AskAnswer } from "../../api/ask.ts";
import { compactionWords } from "../../text/compaction-words.ts";
import { ago, grouped, visible } from "../../text/format.ts";
import { summarySections } from "../../text/summary-items.ts";
import type { CutTarget } from "./cut-target.ts";
import { draggedTarget } from "./cuts.ts";
import { MessageDetail } from "./message-detail.tsx";
import { Originals } from "./originals.tsx";

interface SummaryDetailProps {
  readonly threadId: string;
  readonly compaction: NonNullable<AskAnswer<"GET /api/threads/{id}/window">["compaction"]>;
  readonly tokens: number;
}

export function SummaryDetail({ threadId, compaction, tokens }: SummaryDetailProps) {
  const [open, setOpen] = useState<string | null>(null);
  const [isReading, setReading] = useState(false);
  const { hiddenThrough, seq, at, text, rung, reason } = compaction;
  const sections = summarySections(text);
  const items = sections.reduce((sum, section) => sum + section.items.filter((item) => item.seqs.length > 0).length, 0);
  if (isReading) return <Originals threadId={threadId} through={hiddenThrough} onClose={() => setReading(false)} />;
  return (
    <div class="stack">
      <h2 class="title">Summary of #1 to #{hiddenThrough}</h2>
      <p class="dim">
        {grouped(tokens)} tokens, made at #{seq}, {ago(at, new Date())}. {compactionWords(rung, reason)}. {items} items
        name their source: choose one to read it.
        {compaction.rewritten && " It was made anew after a redaction: requests before that had other words."}
      </p>
      <p>
        <button type="button" class="button" onClick={() => setReading(true)}>
          Read what it hides
        </button>
      </p>
      {sections.map(({ title, items: some }, place) => (
        <section key={place} class="stack">
          {title !== null && <h3>{visible(title)}</h3>}
          {some.map((item, index) => {
            const key = `${place}-${index}`;
            const words = visible(item.text);
            if (item.seqs.length === 0)
              return (
                <p key={key} class="words dim" dir="auto">
                  {words}
                </p>
              );
            return (
              <div key={key}>
                <button
                  type="button"
                  class="item"
                  aria-expanded={open === key}
                  draggable
                  onDragStart={(event) => {
                    event.dataTransfer?.setData("text/plain", words);
                    draggedTarget.value = quoted(item.seqs);
                  }}
                  onDragEnd={() => {
                    draggedTarget.value = null;
                  }}
                  onClick={() => setOpen(open === key ? null : key)}
                >
                  <span class="words" dir="auto">
                    {words}
                  </span>{" "}
                  <span class="mono sources">{item.seqs.map((one) => `#${one}`).join(" ")}</span>
                </button>
                {open === key && <Sources threadId={threadId} seqs={item.seqs} />}
              </div>
            );
          })}
        </section>
      ))}
    </div>
  );
}

/** An item is dragged to the first turn it comes from. */
function quoted([seq]: readonly number[]): CutTarget | null {
  if (seq === undefined) return null;
  return { from: seq, until: seq, messages: 1, tokens: 0, state: "summarized", isPinned: false };
}

function Sources({ threadId, seqs }: { readonly threadId: string; readonly seqs: readonly number[] }) {
  return (
    <section class="sources-open" aria-label="Where that comes from">
      {seqs.map((seq) => (
        <MessageDetail key={seq} threadId={threadId} seq={seq} />
      ))}
    </section>
  );
}
