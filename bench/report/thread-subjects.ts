/** The page's subjects about threads and what carries them: turns, appends, search, counting, the queue, start-up. */
import { bytes, ms, type Row, type Subject, times, whole } from "./write.ts";

interface Turn {
  readonly who: string;
  readonly store: string;
  readonly messages: number;
  readonly ms: number;
  readonly bytes: number;
}

export const turn: Subject = {
  id: "turn",
  title: "One turn on a long thread",
  about:
    "One question and one answer, persisted, with a model that answers at once: time and bytes written, medians of 40 turns (ours) and 3 (theirs). Everybody stores every message, except where the row says that older ones leave the thread. Ours has all but the newest 20 behind a summary, as after a compaction; the others load and send all of them. For the in-memory saver bytes are what it serialized.",
  data: "generated for the run; nothing was tuned on it.",
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

export const turnOnPostgres: Subject = {
  id: "turn-postgres",
  title: "One turn on PostgreSQL",
  about: "The same turn with ours on PostgreSQL; bytes are those of its write-ahead log.",
  data: "generated for the run; nothing was tuned on it.",
  rows: ({ rows }: { rows: readonly Turn[] }): readonly Row[] =>
    rows.map((row) => ({ what: `${whole(row.messages)} messages`, ours: `${ms(row.ms)}, ${bytes(row.bytes)}` })),
};

export const append: Subject = {
  id: "append",
  title: "One message appended",
  about: "To a thread of 10,000 messages and to one of 100, in one database; the load is of the newest 50.",
  data: "generated for the run; nothing was tuned on it.",
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

interface Weighed {
  readonly text: number;
  readonly file: number;
  readonly ratio: number;
  readonly tables: readonly { readonly name: string; readonly ratio: number }[];
}

export const weight: Subject = {
  id: "bytes",
  title: "A long thread on the disk",
  about:
    "20,000 turns of an agent in a window of 8,000 tokens on SQLite, about 300 bytes of made-up words a turn, with all its compactions: the whole file, search index included, against the words.",
  data: "generated for the run; nothing was tuned on it.",
  rows({ text, file, ratio, tables }: Weighed) {
    const share = (pattern: RegExp) =>
      times(tables.reduce((sum, table) => sum + (pattern.test(table.name) ? table.ratio : 0), 0));
    return [
      { what: "the file, for so many bytes of text", ours: `${bytes(file)} for ${bytes(text)}: ${times(ratio)}` },
      { what: "of it records; search index", ours: `${share(/^records/)}; ${share(/^recall/)}` },
    ];
  },
};

interface Searched {
  readonly store: string;
  readonly searchMs: { readonly p50: number; readonly p95: number };
  readonly indexMs: number;
  readonly appendMs: number;
}

export const search: Subject = {
  id: "search",
  title: "Search in a store",
  about: "Over a thread of 10,000 messages.",
  data: "generated for the run; nothing was tuned on it.",
  rows: ({ rows }: { rows: readonly Searched[] }) =>
    rows.flatMap(({ store, searchMs, indexMs, appendMs }) => [
      { what: `${store}: one search, p50 and p95`, ours: `${ms(searchMs.p50)}, ${ms(searchMs.p95)}` },
      { what: `${store}: indexing a message, beside its append`, ours: `${ms(indexMs)} beside ${ms(appendMs)}` },
    ]),
};

interface Queued {
  readonly withMs: number;
  readonly withoutMs: number;
}

export const queue: Subject = {
  id: "queue",
  title: "Queuing memory's work",
  about: "One answer appended with and without a job for memory in the same transaction, medians.",
  data: "generated for the run; nothing was tuned on it.",
  rows: ({ sqlite, postgres }: { sqlite: Queued; postgres: Queued }) =>
    Object.entries({ SQLite: sqlite, PostgreSQL: postgres }).map(([store, { withMs, withoutMs }]) => ({
      what: `${store}, with against without a job`,
      ours: `${ms(withMs)} against ${ms(withoutMs)}`,
    })),
};

export const count: Subject = {
  id: "count",
  title: "Counting after one new message",
  about: "In a thread of 10,000; theirs is counting all of it again, as a counter without memory must.",
  data: "generated for the run; nothing was tuned on it.",
  rows: ({ exact }: { exact: { afterOneMs: number; recountMs: number; ratio: number } }) => [
    { what: "exact count", ours: ms(exact.afterOneMs), theirs: ms(exact.recountMs), ratio: times(exact.ratio) },
  ],
};

export const summarize: Subject = {
  id: "summarize",
  title: "A history longer than the summarizer's window",
  about: "Generated history through a summarizer with a window of 8,000 tokens.",
  data: "generated for the run; nothing was tuned on it.",
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

export const startup: Subject = {
  id: "startup",
  title: "Start-up and install size",
  about:
    "Importing the package, and the files of the package with everything it needs, `ai` and `zod` included; providers and PostgreSQL are packages of their own on both sides. Two runs: the sizes are of the present packages, the times of an earlier run, when a shell, PostgreSQL and four providers still came with ours. `npm run bench -- all --only startup` on a quiet machine measures both at once; then this sentence goes.",
  data: "the packages as they are installed.",
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
