/** The request, entry by entry: what it is, its words as far as they are in sight, why it is there, what it weighs. */
import { linesForgotten, linesOf, wantLines } from "../../api/lines.ts";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { grouped } from "../../text/format.ts";
import { lineText } from "../../text/line-text.ts";
import type { EntryFacts } from "../../text/why.ts";
import { isErased, whyOf } from "../../text/why.ts";

export interface ShownEntry {
  readonly key: string;
  /** The color's name. */
  readonly part: string;
  readonly name: string;
  readonly seq: number | null;
  readonly tokens: number;
  readonly why: string;
  readonly tone: "quiet" | "plain" | "hot";
  /** Null: of the message with its seq. */
  readonly text: string | null;
  readonly change?: "gone" | "new" | "same";
  /** Of a fold: the first and the last record it stands for. */
  readonly folded?: readonly number[] | undefined;
  /** Hidden or folded by hand: it can be shown again. */
  readonly isCut?: boolean;
}

export function shownEntry(entry: EntryFacts, hidden: number, summary: string): ShownEntry {
  const { seq, source, role, tokens, folded, shortened } = entry;
  const isSummary = source === "summary" || source === "acknowledgement" || source === "fold";
  const part = source === "rules" ? "pinned" : isSummary ? "summary" : role;
  const { label, tone } = whyOf(entry, hidden);
  return {
    key: seq !== null ? String(seq) : folded === undefined ? source : `fold-${folded[0]}`,
    part,
    name: source === "summary" || source === "rules" || source === "fold" ? source : role,
    seq,
    tokens,
    why: label,
    tone,
    text: seq !== null ? null : source === "summary" ? summary : (TEXTS[source] ?? ""),
    folded,
    isCut: source === "fold" || (shortened?.includes("hidden") ?? false),
  };
}

/** Entries that are no message and that the list doesn't bring. */
const TEXTS: Readonly<Record<string, string>> = {
  acknowledgement: "Understood.",
  rules: "Standing rules, word for word",
  fold: "One turn in the place of a range of messages",
};

interface EntryListProps {
  readonly threadId: string;
  readonly label: string;
  readonly entries: readonly ShownEntry[];
  readonly chosen: number;
  readonly onChoose: (row: number) => void;
  /** Where several can be chosen, and dragged. */
  readonly picking?: Picking | undefined;
}

interface Picking {
  /** Where the range began; null: one entry is chosen. */
  readonly anchor: number | null;
  readonly onRange: (anchor: number, row: number) => void;
  readonly onDrag: (row: number | null) => void;
}

const ROW = 34;

export function EntryList({ threadId, label, entries, chosen, onChoose, picking }: EntryListProps) {
  const lines = linesOf(threadId);
  return (
    <VirtualList
      class="entries"
      label={label}
      count={entries.length}
      rowHeight={ROW}
      chosen={chosen}
      onChoose={onChoose}
      picking={picking}
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
        const isGone = said !== undefined && isErased(said.parts);
        return (
          <div class={`entry ${change}`}>
            <span class="dim mono seq">
              {change === "same" ? (seq === null ? "" : `#${seq}`) : SIGNS[change] + (seq === null ? "" : `#${seq}`)}
            </span>
            <span class={`kind dot-${part}`}>{name}</span>
            <span class="cut" dir="auto">
              {text ?? (said === undefined ? "" : lineText(said.parts))}
            </span>
            <span class={`pill ${isGone ? "plain" : tone}`}>{isGone ? "redacted" : why}</span>
            <span class="number tokens">{grouped(tokens)}</span>
          </div>
        );
      }}
    />
  );
}

/** Where the detail stands below the list, a tap on an entry and a preview scroll to it. */
export function showDetail(): void {
  if (!matchMedia("(max-width: 1000px)").matches) return;
  requestAnimationFrame(() => document.querySelector(".detail")?.scrollIntoView({ block: "start" }));
}

const SIGNS = { gone: "− ", new: "+ " } as const;
