/** The page's subjects about one turn: ours and the peers' with the same messages in view first, then as each comes. */
import { byMeasure, bytes, ms, type Row, type Subject, times, whole } from "./write.ts";

interface Turn {
  readonly who: string;
  readonly messages: number;
  readonly shown: number;
  readonly cpuMs: number;
  readonly ms: number;
  readonly bytes: number;
}

const PLAIN = "LangChain createAgent";
const SHORT = `${PLAIN}, summarizing`;
const DEEP = "DeepAgents createDeepAgent";
const EXIT = "durability exit";

/** Which two stand beside each other, and what the peer showed its model in truth: on a long thread DeepAgents summarizes by itself. */
const GROUPS: readonly {
  readonly what: string;
  readonly theirs: "all" | "fewer";
  readonly pairs: readonly (readonly [ours: string, theirs: string])[];
}[] = [
  {
    what: "all in view on both sides",
    theirs: "all",
    pairs: [
      ["all in view", `${PLAIN}, ${EXIT}`],
      ["all in view, an agent made anew", `${PLAIN} made anew, ${EXIT}`],
      ["all in view, an agent made anew and the thread read again", `${PLAIN} made anew, ${EXIT}`],
      ["all in view, with files", `${DEEP}, ${EXIT}`],
    ],
  },
  {
    what: "older ones behind a summary on both sides",
    theirs: "fewer",
    pairs: [
      ["compacted", `${SHORT}, ${EXIT}`],
      ["compacted, with files", `${DEEP}, ${EXIT}`],
    ],
  },
  {
    what: "ours behind summaries, theirs all in view",
    theirs: "all",
    pairs: [
      ["compacted", `${PLAIN}, ${EXIT}`],
      ["compacted, an agent made anew", `${PLAIN} made anew, ${EXIT}`],
      ["compacted, with files", `${DEEP}, ${EXIT}`],
    ],
  },
];

export const turn: Subject = {
  id: "turn",
  title: "One turn on a long thread",
  about:
    'One question and one answer, persisted in SQLite, with a model that answers at once: CPU, time and bytes written, medians; each library warms up equally often, on a short thread and then on this one, and is measured equally often, in its own process, in turn. The first rows do the same work: both load and send all messages. "durability exit" is the peer\'s fastest setting: it writes nothing before a run has ended, ours has the question on disk before the model is asked. Ours has a compaction for every 25 to 100 messages behind it where it says summaries, and keeps all messages; the summarizing peer\'s older messages leave its thread. Ours "made anew" is a new agent for each turn, which goes on from what the process knows of the thread once it has seen that nobody else wrote to it; where it "reads the thread again" it knows nothing of it, as after a restart. "With files" it has the folders and tools that DeepAgents has. Peers without that setting are slower; their figures are in `bench/results/turn.json`. The last group is each as it comes on a long thread, not the same work. Our lead is smallest where the thread is read again for every turn with everything in view: then ours reads and counts all of it, too.',
  data: "generated for the run; nothing was tuned on it.",
  rows: ({ rows }: { rows: readonly Turn[] }): readonly Row[] => {
    const sizes = [...new Set(rows.map(({ messages }) => messages))];
    const of = (name: string, size: number) => rows.find(({ who, messages }) => who === name && messages === size);
    return GROUPS.flatMap(({ what, theirs: saw, pairs }) =>
      sizes.flatMap((size) =>
        pairs.flatMap(([own, other]): Row[] => {
          const [ours, theirs] = [of(own, size), of(other, size)];
          if (ours === undefined || theirs === undefined) return [];
          if (theirs.shown >= size !== (saw === "all")) return [];
          return compared(`${whole(size)} messages, ${what}: ${other}${settingOf(own)}`, ours, theirs);
        }),
      ),
    );
  },
};

/** What of our setting the peer's name doesn't say. */
function settingOf(own: string): string {
  if (own.includes("read again")) return "; ours reads the thread again";
  return own.includes("with files") ? "; ours with files" : "";
}

function compared(what: string, ours: Turn, theirs: Turn): Row[] {
  const row = (show: (value: number) => string, name: keyof Turn & ("cpuMs" | "ms" | "bytes")) => ({
    ours: show(ours[name]),
    theirs: show(theirs[name]),
    ratio: times(theirs[name] / ours[name]),
  });
  return byMeasure(what, { CPU: row(ms, "cpuMs"), time: row(ms, "ms"), "bytes written": row(bytes, "bytes") });
}

export const turnOnPostgres: Subject = {
  id: "turn-postgres",
  title: "One turn on PostgreSQL",
  about:
    "The same turn with ours on PostgreSQL; CPU is that of the agent's process, bytes are those of the server's write-ahead log. No peer is measured here.",
  data: "generated for the run; nothing was tuned on it.",
  rows: ({ rows }: { rows: readonly Turn[] }): readonly Row[] =>
    rows.flatMap((row) =>
      byMeasure(`${whole(row.messages)} messages, ${row.who}`, {
        CPU: { ours: ms(row.cpuMs) },
        time: { ours: ms(row.ms) },
        "bytes written": { ours: bytes(row.bytes) },
      }),
    ),
};
