/** The page's subject about what a search finds in chats that no library and no constant was made for. */
import { byMeasure, percent, type Row, type Subject, times, whole, withHeldOut } from "./write.ts";

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
    "Share of the evidence messages of BEAM's questions among the first 10 hits, and in what `recall` shows of the hits within 2,000 and 4,000 tokens; no model. Everybody is shown in the same windows. Of each library the best of four variants (its own terms or ours, whole messages or passages of 90 words); the two prototypes are BM25 in thirty lines, the second over passages, with half of each neighbor's score, a user's messages doubled. The embedder is a fake one: its quality is the chance that a message of the evidence is nearer to the question than another. By chat, first 10 hits and 4,000 tokens against that prototype: `bench/results/quality-search.json`.",
  data: "14 chats of BEAM, which the ranking was tuned on. Of the last changes some constants were chosen on half of the chats, others with all in view.",
  rows: (figures: SearchFigures) => withHeldOut(figures, searchRows),
};

const SHOWN = { first10: "among the first 10", in2000: "within 2,000 tokens", in4000: "within 4,000 tokens" } as const;

function searchRows({ rows, byChat }: SearchFigures): Row[] {
  const chats = compare(byChat).filter(({ measure }) => measure !== SHOWN.in2000);
  const lost = chats.filter(({ ratio }) => Number.parseFloat(ratio ?? "1") < 1);
  const count = {
    what: `chats in which the prototype finds more by either, of ${whole(new Set(chats.map(({ what }) => what)).size)}`,
    ours: whole(new Set(lost.map(({ what }) => what)).size),
  };
  const embedded = rows
    .filter(({ who }) => who.startsWith(EMBEDDED))
    .flatMap((one) =>
      byMeasure(
        `${one.set}: ${one.who}`,
        shares((name) => ({ ours: percent(one.figures[name]!.mean) })),
      ),
    );
  return [...compare(rows), ...embedded, count];
}

/** How rows of ours with a fake embedder are named. */
const EMBEDDED = "ours, ";

function shares(cells: (name: keyof typeof SHOWN) => Omit<Row, "what" | "measure">) {
  const names = Object.keys(SHOWN) as (keyof typeof SHOWN)[];
  return Object.fromEntries(names.map((name) => [SHOWN[name], cells(name)]));
}

function compare(rows: readonly Found[]): Row[] {
  return rows
    .filter(({ who }) => who !== "ours" && !who.startsWith(EMBEDDED))
    .flatMap((peer) => {
      const own = rows.find(({ set, who }) => set === peer.set && who === "ours")!;
      const what = `${peer.set} (${whole(peer.questions)} questions): ${peer.who}`;
      return byMeasure(
        what,
        shares((name) => {
          const [ours, theirs] = [own.figures[name]!.mean, peer.figures[name]!.mean];
          return { ours: percent(ours), theirs: percent(theirs), ratio: times(ours / theirs) };
        }),
      );
    });
}
