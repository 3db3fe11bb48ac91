/** The request, entry by entry: what it is, its words as far as they are in sight, why it is there, what it weighs. */
import { linesForgotten, linesOf, wantLines } from "../../api/lines.ts";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { grouped } from "../../text/format.ts";
import { lineText } from "../../text/line-text.ts";
import type { EntryFacts } from "../../text/why.ts";
import { whyOf } from "../../text/why.ts";

export interface ShownEntry {
  readonly key: string;
  /** The color's name. */
  readonly part: string;
  readonly name: string;
  readonly seq: number | null;
  readonly tokens: number;
  readonly why: string;
  readonly tone: "plain" | "hot";
  /** Null: of the message with its seq. */
  readonly text: string | null;
  readonly change?: "gone" | "new" | "same";
}

export function shownEntry(entry: EntryFacts, hidden: number, summary: string): ShownEntry {
  const { seq, source, role, tokens } = entry;
  const part = ["rules", "summary", "acknowledgement", "fold"].includes(source) ? "summary" : role;
  const { label, tone } = whyOf(entry, hidden);
  return {
    key: seq === null ? source : String(seq),
    part,
    name: source === "summary" ? "summary" : role,
    seq,
    tokens,
    why: label,
    tone,
    text: seq !== null ? null : source === "summary" ? summary : "Understood.",
  };
}

interface EntryListProps {
  readonly threadId: string;
  readonly label: string;
  readonly entries: readonly ShownEntry[];
  readonly chosen: number;
  readonly onChoose: (row: number) => void;
}

const ROW = 34;

export function EntryList({ threadId, label, entries, chosen, onChoose }: EntryListProps) {
  const lines = linesOf(threadId);
  return (
    <VirtualList
      class="entries"
      label={label}
      count={entries.length}
      rowHeight={ROW}
      chosen={chosen}
      onChoose={onChoose}
      onPoint={showDetail}
      keyOf={(at) => entries[at]!.key}
      sight={`${threadId} ${linesForgotten.value}`}
      onSight={(first, end) => {
        const seqs = entries.slice(first, end).flatMap(({ seq }) => seq ?? []);
        void wantLines(threadId, seqs);
      }}
      row={(at) => {
        const { seq, part, name, text, why, tone, tokens, change = "same" } = entries[at]!;
        const said = seq === null ? undefined : lines.get(seq);
        return (
          <div class={`entry ${change}`}>
            <span class="dim mono seq">
              {change === "same" ? (seq === null ? "" : `#${seq}`) : SIGNS[change] + (seq === null ? "" : `#${seq}`)}
            </span>
            <span class={`kind dot-${part}`}>{name}</span>
            <span class="cut" dir="auto">
              {text ?? (said === undefined ? "" : lineText(said.parts))}
            </span>
            <span class={`pill ${tone}`}>{why}</span>
            <span class="number tokens">{grouped(tokens)}</span>
          </div>
        );
      }}
    />
  );
}

/** Where it stands below the list, whoever taps an entry wants to see it. */
function showDetail(): void {
  if (!matchMedia("(max-width: 1000px)").matches) return;
  requestAnimationFrame(() => document.querySelector(".detail")?.scrollIntoView({ block: "start" }));
}

const SIGNS = { gone: "− ", new: "+ " } as const;
