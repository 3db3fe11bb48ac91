/** The page's subject about what a search finds in chats that no library and no constant was made for. */
import { percent, type Row, type Subject, times, whole, withHeldOut } from "./write.ts";

interface Found {
  readonly set: string;
  readonly who: string;
  readonly questions: number;
  readonly figures: Readonly<Record<string, { readonly mean: number }>>;
}

interface SearchFigures {
  readonly rows: readonly Found[];
  readonly byChat: readonly Found[];
}

export const qualitySearch: Subject = {
  id: "quality-search",
  title: "Search in chats with an assistant",
  about:
    "Share of the evidence messages of BEAM's questions among the first 10 hits, and in what `recall` shows of the hits within 2,000 and 4,000 tokens; no model. Everybody is shown in the same windows. Of each library the best of four variants (its own terms or ours, whole messages or passages of 90 words); the two prototypes are BM25 in thirty lines, the second over passages, with half of each neighbor's score, a user's messages doubled. The embedder is a fake one: its quality is the chance that a message of the evidence is nearer to the question than another. By chat: first 10 hits and 4,000 tokens against that prototype, every chat in which it finds more by either.",
  data: "14 chats of BEAM, which the ranking was tuned on. Of the last changes some constants were chosen on half of the chats, others with all in view.",
  rows: (figures: SearchFigures) => withHeldOut(figures, searchRows),
};

const SHOWN = ["first10", "in2000", "in4000"] as const;

function searchRows({ rows, byChat }: SearchFigures): Row[] {
  const totals = compare(rows, SHOWN).map((row) => ({ ...row, what: `${row.what}; first 10; 2,000; 4,000 tokens` }));
  const chats = compare(byChat, ["first10", "in4000"]);
  const lost = chats.filter(({ ratio }) => ratio.split("; ").some((part) => Number.parseFloat(part) < 1));
  const count = {
    what: `chats in which the prototype finds more by either, of ${whole(chats.length)}`,
    ours: whole(lost.length),
  };
  const embedded = rows.filter(({ who }) => who.startsWith(EMBEDDED));
  const fake = embedded.map((one) => ({ what: `${one.set}: ${one.who}`, ours: cellOf(one, SHOWN) }));
  return [...totals, ...fake, count, ...lost];
}

/** How rows of ours with a fake embedder are named. */
const EMBEDDED = "ours, ";

function cellOf({ figures }: Found, names: readonly string[]): string {
  return names.map((name) => percent(figures[name]!.mean)).join("; ");
}

function compare(rows: readonly Found[], names: readonly string[]): (Row & { readonly ratio: string })[] {
  return rows
    .filter(({ who }) => who !== "ours" && !who.startsWith(EMBEDDED))
    .map((peer) => {
      const own = rows.find(({ set, who }) => set === peer.set && who === "ours")!;
      const ratio = names.map((name) => times(own.figures[name]!.mean / peer.figures[name]!.mean)).join("; ");
      const what = `${peer.set} (${whole(peer.questions)} questions): ${peer.who}`;
      return { what, ours: cellOf(own, names), theirs: cellOf(peer, names), ratio };
    });
}
