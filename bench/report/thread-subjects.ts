/** The page's subjects about threads and what carries them: appends, search, tables in parts, counting, start-up. */
import { byMeasure, bytes, ms, type Row, type Subject, times, whole } from "./write.ts";

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
      ...byMeasure("append", {
        "thread of 10,000 messages": { ours: ms(added.longMs) },
        "thread of 100": { ours: ms(added.shortMs) },
      }),
      ...byMeasure("load", {
        "thread of 10,000 messages": { ours: ms(load.oldMs) },
        "thread of 100": { ours: ms(load.youngMs) },
      }),
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
      { what: "text", ours: bytes(text) },
      { what: "the file", ours: bytes(file) },
      { what: "the file, as a multiple of the text", ours: times(ratio) },
      { what: "records, as a multiple of the text", ours: share(/^records/) },
      { what: "search index, as a multiple of the text", ours: share(/^recall/) },
    ];
  },
};

interface Searched {
  readonly store: string;
  readonly messages: number;
  /** With the server's, which is also told apart. */
  readonly searchCpuMs: Spread;
  readonly serverCpuMs: Spread;
  readonly searchMs: Spread;
  readonly indexMs: number;
  readonly appendMs: number;
}

interface Spread {
  readonly p50: number;
  readonly p95: number;
}

export const search: Subject = {
  id: "search",
  title: "Search in a store",
  about:
    "Over threads of more and more messages, with the same questions of two to eight words. Processor time is that of the process and of PostgreSQL together.",
  data: "generated for the run; nothing was tuned on it.",
  rows: ({ rows }: { rows: readonly Searched[] }) =>
    rows.flatMap((row) => {
      const subject = `${row.store}, ${whole(row.messages)} messages`;
      return searched(subject, row);
    }),
};

function searched(what: string, row: Searched): Row[] {
  const { searchCpuMs, serverCpuMs, searchMs } = row;
  return byMeasure(what, {
    "one search, CPU p50": { ours: ms(searchCpuMs.p50) },
    "one search, CPU p95": { ours: ms(searchCpuMs.p95) },
    ...(serverCpuMs.p50 > 0 ? { "of it the server's, p50": { ours: ms(serverCpuMs.p50) } } : {}),
    "one search, time p50": { ours: ms(searchMs.p50) },
    "one search, time p95": { ours: ms(searchMs.p95) },
    "append of a message": { ours: ms(row.appendMs) },
    "its indexing": { ours: ms(row.indexMs) },
  });
}

interface Partitioned {
  readonly waiting: number;
  readonly jobMs: number;
  readonly jobMsWithoutIndex: number;
  readonly rows: readonly {
    readonly partitions: number;
    readonly appendMs: number;
    readonly loadMs: number;
    readonly searchMs: number;
    readonly megabytes: number;
  }[];
}

export const partitions: Subject = {
  id: "partitions",
  title: "Tables in parts",
  about:
    "One PostgreSQL store with its large tables whole and one with them cut by thread, the same work on both by turns: 20,000 messages in 10 threads, medians of 300. Parts are for the upkeep of very large tables; at this size they gain nothing. Then a job of the queue beside others that wait for their time.",
  data: "generated for the run; nothing was tuned on it.",
  rows: ({ rows, waiting, jobMs, jobMsWithoutIndex }: Partitioned) => [
    ...rows.flatMap(({ partitions: count, appendMs, loadMs, searchMs, megabytes }) =>
      byMeasure(count === 0 ? "whole tables" : `${count} parts`, {
        append: { ours: ms(appendMs) },
        load: { ours: ms(loadMs) },
        search: { ours: ms(searchMs) },
        size: { ours: `${whole(megabytes)} MB` },
      }),
    ),
    ...byMeasure(`one job beside ${whole(waiting)} that wait`, {
      "with the index `outbox_held`": { ours: ms(jobMs) },
      "without it": { ours: ms(jobMsWithoutIndex) },
    }),
  ],
};

interface Counted {
  readonly exact: { readonly afterOneMs: number; readonly recountMs: number };
  readonly chars: { readonly afterOneMs: number };
  readonly langchain?: { readonly recountMs: number };
}

export const count: Subject = {
  id: "count",
  title: "Counting after one new message",
  about:
    "In a thread of 10,000. LangChain's own `countTokensApproximately`, which its summarizing uses by default, goes through all messages each time and estimates from characters; ours counts what is new, exactly or by characters. Counting all of it exactly again, as ours would without a memory, is for comparison. The tenth of the rounds that was disturbed least.",
  data: "generated for the run; nothing was tuned on it.",
  rows: ({ exact, chars, langchain }: Counted) => [
    ...(langchain === undefined
      ? []
      : (
          [
            ["by characters on both sides", chars],
            ["ours exactly, theirs by characters", exact],
          ] as const
        ).map(([what, { afterOneMs }]) => ({
          what: `${what}; LangChain countTokensApproximately`,
          ours: ms(afterOneMs),
          theirs: ms(langchain.recountMs),
          ratio: times(langchain.recountMs / afterOneMs),
        }))),
    { what: "our own exact count of all messages anew", ours: ms(exact.recountMs) },
  ],
};

export const summarize: Subject = {
  id: "summarize",
  title: "A history longer than the summarizer's window",
  about: "Generated history through a summarizer with a window of 8,000 tokens.",
  data: "generated for the run; nothing was tuned on it.",
  rows: (figures: { tokens: number; words: number; wordsNeverRead: number; calls: number; repeated: number }) => [
    ...byMeasure(`${whole(figures.tokens)} tokens`, {
      "words of user and assistant": { ours: whole(figures.words) },
      "of them never read": { ours: whole(figures.wordsNeverRead) },
      calls: { ours: whole(figures.calls) },
      "calls repeated": { ours: whole(figures.repeated) },
    }),
  ],
};

interface Startup {
  readonly who: string;
  readonly importCpuMs: number;
  readonly importMs: number;
  readonly packages: number;
  readonly megabytes: number;
}

export const startup: Subject = {
  id: "startup",
  title: "Start-up and install size",
  about:
    "Importing the package, CPU and time beyond those of an empty process, and the files of the package with everything it needs, `ai` and `zod` included; a shell, providers and PostgreSQL are packages of their own on both sides.",
  data: "the packages as they are installed.",
  rows({ rows }: { rows: readonly Startup[] }) {
    const own = rows.find(({ who }) => who === "palimpsest")!;
    const row = (show: (value: number) => string, ours: number, theirs: number) => ({
      ours: show(ours),
      theirs: show(theirs),
      ratio: times(theirs / ours),
    });
    const peers = rows.filter((one) => one !== own);
    return peers.flatMap((peer) =>
      byMeasure(peer.who, {
        "CPU of the import": row(ms, own.importCpuMs, peer.importCpuMs),
        "time of the import": row(ms, own.importMs, peer.importMs),
        "installed size": row((value) => `${whole(value)} MB`, own.megabytes, peer.megabytes),
        "installed packages": { ours: whole(own.packages), theirs: whole(peer.packages) },
      }),
    );
  },
};
