/**
 * The subjects of the page: for each bench of the plan, what its figures mean and which of them become rows. A row with no
 * peer leaves its cells empty.
 */
import { bytes, ms, percent, type Row, times, whole } from "./write.ts";

export interface Subject {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  rows(figures: never): readonly Row[];
}

interface Turn {
  readonly who: string;
  readonly store: string;
  readonly messages: number;
  readonly ms: number;
  readonly bytes: number;
}

const turn: Subject = {
  id: "turn",
  title: "One turn on a long thread",
  about:
    "One question and one answer, persisted, with a model that answers at once: time and bytes written, medians of 40 turns (ours) and 3 (theirs). Everybody stores every message, except where the row says that older ones leave the thread. Ours has all but the newest 20 behind a summary, as after a compaction; the others load and send all of them. For the in-memory saver bytes are what it serialized.",
  rows({ rows }: { rows: readonly Turn[] }) {
    const ours = rows.filter(({ who }) => who === "palimpsest");
    return rows
      .filter(({ who }) => who !== "palimpsest")
      .map((peer) => {
        const own = ours.find(({ messages }) => messages === peer.messages)!;
        return {
          what: `${whole(peer.messages)} messages, ${peer.who}, ${peer.store}`,
          ours: `${ms(own.ms)}, ${bytes(own.bytes)}`,
          theirs: `${ms(peer.ms)}, ${bytes(peer.bytes)}`,
          ratio: `${times(peer.ms / own.ms)} time, ${times(peer.bytes / own.bytes)} bytes`,
        };
      });
  },
};

const append: Subject = {
  id: "append",
  title: "One message appended",
  about: "To a thread of 10,000 messages and to one of 100, in one database; the load is of the newest 50.",
  rows(figures: {
    append: { longMs: number; shortMs: number; ratio: number; walBytes: { p50: number } };
    load: { oldMs: number; youngMs: number; ratio: number };
  }) {
    const { append: added, load } = figures;
    return [
      { what: "append, long against short thread", ours: `${ms(added.longMs)} against ${ms(added.shortMs)}` },
      { what: "load, long against short thread", ours: `${ms(load.oldMs)} against ${ms(load.youngMs)}` },
      { what: "bytes written per message, median", ours: bytes(added.walBytes.p50) },
    ];
  },
};

interface Playback {
  readonly who: string;
  readonly summarizer: string;
  readonly requests: number;
  readonly violations: number;
  readonly overWindow: number;
  readonly failed: number;
  readonly unread?: number;
  readonly hollow: number;
}

const playback: Subject = {
  id: "peer-playback",
  title: "Transcripts played through summarization",
  about:
    'Real dialogs with tools in a window of 8,000 tokens, the same summarizer for all and the same trigger (85 %), the published middleware of each. "Best settings" of LangChain: an exact token count, a share of the window kept, a summarizer that may read everything. Cells: broken provider rules / requests over the window / requests that failed before they were sent / messages replaced by a summary that says nothing of them. DeepAgents notices a request that is too long and tries again with less; it also keeps what it hides in a file.',
  rows({ rows }: { rows: readonly Playback[] }) {
    const cell = (row: Playback): string =>
      [row.violations, row.overWindow, row.failed, row.hollow].map(whole).join(" / ");
    return rows
      .filter(({ who }) => who !== "Palimpsest")
      .map((peer) => ({
        what: `${peer.who}, ${peer.summarizer} summarizer, ${whole(peer.requests)} requests`,
        ours: cell(rows.find(({ who, summarizer }) => who === "Palimpsest" && summarizer === peer.summarizer)!),
        theirs: cell(peer),
      }));
  },
};

interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

const tokens: Subject = {
  id: "tokens",
  title: "Token count against the provider's report",
  about:
    "Error on a recorded coding session. Theirs is characters / 4, the usual estimate, for what was added since the first report, so the two are not quite the same question and there is no ratio.",
  rows(figures: { anchored: Spread; delta: Spread; afterChange: Spread; charsOver4: Spread }) {
    const { anchored, delta, afterChange, charsOver4 } = figures;
    return [
      {
        what: "the whole prompt, p95",
        ours: percent(anchored.p95, 2),
        theirs: percent(charsOver4.p95, 1),
      },
      { what: "what was added since the last report, p50", ours: percent(delta.p50) },
      {
        what: "first prompt after a compaction, p50 and worst",
        ours: `${percent(afterChange.p50)}, ${percent(afterChange.max)}`,
      },
    ];
  },
};

interface Recall {
  readonly at: Readonly<Record<string, number>>;
  readonly atTokens: Readonly<Record<string, number>>;
}

const recall: Subject = {
  id: "recall",
  title: "Recall",
  about:
    'Share of the evidence turns of LoCoMo questions that a search brings back; no model. "our-terms": the peer with our stemming.',
  rows(figures: Recall & { msP95At10000: number; peers: readonly (Recall & { who: string })[] }) {
    const rows = figures.peers.map((peer) => ({
      what: `first 10 hits; within 2,000 tokens: ${peer.who}`,
      ours: `${percent(figures.at["10"]!)}; ${percent(figures.atTokens["2000"]!)}`,
      theirs: `${percent(peer.at["10"]!)}; ${percent(peer.atTokens["2000"]!)}`,
      ratio: `${times(figures.at["10"]! / peer.at["10"]!)}; ${times(figures.atTokens["2000"]! / peer.atTokens["2000"]!)}`,
    }));
    const own = `${percent(figures.at["10"]!)}; ${percent(figures.atTokens["2000"]!)}`;
    const alone =
      rows.length > 0 ? [] : [{ what: "first 10 hits; within 2,000 tokens (peers not installed)", ours: own }];
    return [...rows, ...alone, { what: "one search over 10,000 turns, p95", ours: ms(figures.msP95At10000) }];
  },
};

const recallWithFacts: Subject = {
  id: "recall-facts",
  title: "Recall with facts as extra keys",
  about: "The same, with turns also indexed under the dataset's own facts.",
  rows: ({ at, atTokens }: Recall) => [
    { what: "first 10 hits; within 2,000 tokens", ours: `${percent(at["10"]!)}; ${percent(atTokens["2000"]!)}` },
  ],
};

interface Policy {
  readonly name: string;
  readonly cost: number;
  readonly known: number;
  readonly peak: number;
}

const cost: Subject = {
  id: "cost",
  title: "Cost of a coding session",
  about:
    "With the provider's prompt cache, as a share of never pruning; in brackets the share of what the agent used again that was still in the prompt. The policies of others are re-implemented from their documented rules.",
  rows({ policies }: { policies: readonly Policy[] }) {
    const own = policies.find(({ name }) => name === "ours")!;
    const cell = (one: Policy): string => `${percent(one.cost, 0)} (${percent(one.known, 0)})`;
    return policies
      .filter(({ name }) => name !== "ours")
      .map((one) => ({ what: one.name, ours: cell(own), theirs: cell(one), ratio: times(one.cost / own.cost) }));
  },
};

const search: Subject = {
  id: "search",
  title: "Search in a store",
  about: "Over a thread of 10,000 messages in SQLite.",
  rows: ({ rows: [row] }: { rows: readonly { searchMs: Spread; indexShare: number }[] }) => [
    { what: "one search, p50 and p95", ours: `${ms(row!.searchMs.p50)}, ${ms(row!.searchMs.p95)}` },
    { what: "indexing, as a share of the append", ours: percent(row!.indexShare) },
  ],
};

const count: Subject = {
  id: "count",
  title: "Counting after one new message",
  about: "In a thread of 10,000; theirs is counting all of it again, as a counter without memory must.",
  rows: ({ exact }: { exact: { afterOneMs: number; recountMs: number; ratio: number } }) => [
    { what: "exact count", ours: ms(exact.afterOneMs), theirs: ms(exact.recountMs), ratio: times(exact.ratio) },
  ],
};

const summarize: Subject = {
  id: "summarize",
  title: "A history longer than the summarizer's window",
  about: "Generated history through a summarizer with a window of 8,000 tokens.",
  rows: (figures: { tokens: number; words: number; wordsNeverRead: number; calls: number; repeated: number }) => [
    {
      what: `${whole(figures.tokens)} tokens: words of user and assistant never read; calls; calls repeated`,
      ours: `${whole(figures.wordsNeverRead)} of ${whole(figures.words)}; ${whole(figures.calls)}; ${whole(figures.repeated)}`,
    },
  ],
};

interface Startup {
  readonly who: string;
  readonly importMs: number;
  readonly packages: number;
  readonly megabytes: number;
}

const startup: Subject = {
  id: "startup",
  title: "Start-up and install size",
  about:
    "Importing the package, and the files of the package with everything it depends on. Ours brings the tokenizers, a shell, PostgreSQL and four providers along; LangChain's providers and stores are packages of their own.",
  rows({ rows, commandLineMs }: { rows: readonly Startup[]; commandLineMs: number }) {
    const own = rows.find(({ who }) => who === "palimpsest")!;
    const cell = (one: Startup): string =>
      `${ms(one.importMs)}, ${whole(one.megabytes)} MB in ${one.packages} packages`;
    const peers = rows.filter((row) => row !== own);
    return [
      ...peers.map((peer) => ({
        what: peer.who,
        ours: cell(own),
        theirs: cell(peer),
        ratio: `${times(peer.importMs / own.importMs)} time, ${times(peer.megabytes / own.megabytes)} size`,
      })),
      { what: "`palimpsest --version`, beyond an empty process", ours: ms(commandLineMs) },
    ];
  },
};

export const SUBJECTS: readonly Subject[] = [
  turn,
  append,
  playback,
  tokens,
  recall,
  recallWithFacts,
  cost,
  search,
  count,
  summarize,
  startup,
];
