/**
 * The live records of a thread: what a load brings, arranged for the view, and how they change with each record that is
 * appended. So a running conversation, a simulation and a playback fold forward without reading the log again.
 */
import type { Head } from "./head.ts";
import type { LogRecord, MessageRecord } from "./record.ts";
import type { LiveRecords } from "./view.ts";

export const NOTHING_LIVE: LiveRecords = {
  compaction: null,
  systems: [],
  request: null,
  prunes: [],
  evidence: [],
  tail: [],
};

/** From the head and the records it refers to; records that the view doesn't need are passed over. */
export function liveRecords(head: Head, records: readonly LogRecord[]): LiveRecords {
  const messages = records.filter((record) => record.kind === "message");
  const compaction = records.find((record) => record.kind === "compaction" && record.seq === head.compaction);
  const live = compaction?.kind === "compaction" ? compaction : null;
  return {
    compaction: live,
    ...alwaysShown(messages, live?.systems ?? [], live?.request ?? null),
    prunes: records.filter((record) => record.kind === "prune").filter(({ seq }) => head.prunes.includes(seq)),
    evidence: records.filter((record) => record.kind === "evidence").filter(({ seq }) => head.evidence.includes(seq)),
    tail: messages.filter(({ seq }) => seq > head.hiddenThrough),
  };
}

/** After one more record. An undo can't be folded forward: what it brings back must be loaded. */
export function liveAfter(live: LiveRecords, record: Exclude<LogRecord, { kind: "undo" }>): LiveRecords {
  switch (record.kind) {
    case "message":
      return { ...live, tail: [...live.tail, record] };
    case "evidence":
      return { ...live, evidence: [...live.evidence, record] };
    case "prune":
      return { ...live, evidence: [], prunes: [...live.prunes, record] };
    case "compaction": {
      const known = [...live.systems, ...(live.request === null ? [] : [live.request]), ...live.tail];
      return {
        compaction: record,
        ...alwaysShown(known, record.systems, record.request),
        prunes: live.prunes,
        evidence: [],
        tail: live.tail.filter(({ seq }) => seq > record.covers[1]),
      };
    }
    default:
      return live;
  }
}

/** After several more records: in one step, because a list that grows by one copies all of it each time. */
export function liveAfterAll(live: LiveRecords, records: readonly Exclude<LogRecord, { kind: "undo" }>[]): LiveRecords {
  let folded = live;
  let messages: MessageRecord[] = [];
  const withMessages = (): LiveRecords =>
    messages.length === 0 ? folded : { ...folded, tail: [...folded.tail, ...messages] };
  for (const record of records) {
    if (record.kind === "message") messages.push(record);
    else {
      folded = liveAfter(withMessages(), record);
      messages = [];
    }
  }
  return withMessages();
}

function alwaysShown(messages: readonly MessageRecord[], systems: readonly number[], request: number | null) {
  const hoisted = new Set(systems);
  const found = new Map(messages.filter(({ seq }) => hoisted.has(seq) || seq === request).map((one) => [one.seq, one]));
  return {
    systems: [...found.values()].filter(({ seq }) => hoisted.has(seq)),
    request: request === null ? null : (found.get(request) ?? null),
  };
}
