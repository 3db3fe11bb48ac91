/**
 * Checks a log record by record, in constant memory: every body against its hash, every link against the one before,
 * the end against the head. A body or a header that was replaced passes only if a `redacted` event in the same chain names
 * it with the hash of what stands there now; such a record's own hash is vouched for by the link of the next. Reports the
 * first bad record; repairs nothing.
 */
import { isRecord } from "../text/names.ts";
import { type ChainedRecord, type Hash, link } from "./chain.ts";
import type { Head } from "./head.ts";

/** The receipt of a redaction: which bodies and headers were replaced, and the hash of what replaced each. */
export interface RedactedEvent {
  readonly type: "redacted";
  readonly target: number;
  readonly bodies: readonly { readonly seq: number; readonly hash: string }[];
  readonly headers?: readonly { readonly seq: number; readonly hash: string }[];
  readonly [detail: string]: unknown;
}

export type ChainFlaw =
  | "wrong-seq"
  | "broken-link"
  | "changed-header"
  | "changed-body"
  | "missing-records"
  | "unknown-records"
  | "wrong-head"
  | "missing-rule";

export type Verdict = Read &
  (
    | { readonly kind: "whole" }
    | {
        readonly kind: "broken";
        readonly firstBad: { readonly seq: number; readonly flaw: ChainFlaw; readonly detail: string };
      }
  );

interface Read {
  readonly records: number;
  /** Records whose words were erased. */
  readonly redacted: readonly number[];
  /** Compactions whose summary held erased words, and was made anew or erased. */
  readonly rewritten: readonly number[];
}

export interface ChainVerifier {
  add(record: ChainedRecord): void;
  finish(head: Pick<Head, "version" | "hash">): Verdict;
}

export function chainVerifier(hash: Hash): ChainVerifier {
  let count = 0;
  let previous = "";
  let broken: Bad | null = null;
  const compactions = new Set<number>();
  /** Bodies that are not what was chained, until a redaction explains them: seq to the hash found. */
  const replaced = new Map<number, string>();
  const explained = new Map<number, string>();
  /** Headers that don't give their record's hash, until a redaction explains them. */
  const rewritten = new Map<number, { readonly now: string; readonly flaw: Bad }>();
  const explainedHeaders = new Map<number, string>();

  return {
    add(record) {
      count += 1;
      if (record.kind === "compaction") compactions.add(record.seq);
      const body = record.body === null ? null : hash(record.body);
      if (body !== record.bodyHash && body !== null && record.bodyHash !== null) replaced.set(record.seq, body);
      const { bodies, headers } = redactions(record);
      for (const { seq, hash: now } of bodies) explained.set(seq, now);
      for (const { seq, hash: now } of headers) explainedHeaders.set(seq, now);
      const flaw = linkFlaw(record, count, previous, hash);
      // Only records without a body are ever given another header: beside a body the link must hold.
      if (flaw?.flaw === "broken-link" && record.bodyHash === null)
        rewritten.set(flaw.seq, { now: hash(record.header), flaw });
      else broken ??= flaw;
      previous = record.hash;
    },
    finish(head) {
      const gone = [...replaced.keys()].filter((seq) => explained.get(seq) === replaced.get(seq));
      const changed = [...replaced.keys()].filter((seq) => explained.get(seq) !== replaced.get(seq));
      const flaws = changed.map((seq): Bad => bad(seq, "changed-body", "its body is not the one that was appended"));
      const others = [...rewritten].filter(([seq, { now }]) => explainedHeaders.get(seq) !== now);
      const erased = [...rewritten.keys()].filter((seq) => !others.some(([other]) => other === seq));
      const touched = [...new Set([...gone, ...erased])].sort((a, b) => a - b);
      const redacted = touched.filter((seq) => !compactions.has(seq));
      const read = { records: count, redacted, rewritten: touched.filter((seq) => compactions.has(seq)) };
      flaws.push(...others.map(([, { flaw }]) => flaw));
      if (broken) flaws.push(broken);
      else flaws.push(...endFlaws(head, count, previous));
      const first = flaws.sort((a, b) => a.seq - b.seq)[0];
      return first ? { kind: "broken", ...read, firstBad: first } : { kind: "whole", ...read };
    },
  };
}

type Bad = { readonly seq: number; readonly flaw: ChainFlaw; readonly detail: string };

function bad(seq: number, flaw: ChainFlaw, detail: string): Bad {
  return { seq, flaw, detail: `record ${seq}: ${detail}` };
}

function linkFlaw(record: ChainedRecord, place: number, previous: string, hash: Hash): Bad | null {
  if (record.seq !== place) return bad(place, "wrong-seq", `stands at this place but calls itself ${record.seq}`);
  if ((record.body === null) !== (record.bodyHash === null)) return bad(place, "changed-body", "its body is missing");
  if (link(previous, record.header, record.bodyHash, hash) !== record.hash)
    return bad(place, "broken-link", "its header, or its link to the record before, is not the one that was appended");
  const named = headerFields(record.header);
  // The columns beside the header are a store's copies of it; they must agree or a query would lie.
  if (named?.["seq"] !== record.seq || named["kind"] !== record.kind || named["at"] !== record.at)
    return bad(place, "changed-header", "its seq, kind or time differ from its header");
  return null;
}

function endFlaws(head: Pick<Head, "version" | "hash">, count: number, last: string): Bad[] {
  if (head.version > count)
    return [
      bad(count + 1, "missing-records", `is missing: the head counts ${head.version} records, the log has ${count}`),
    ];
  if (head.version < count)
    return [bad(head.version + 1, "unknown-records", `stands after the end: the head counts ${head.version} records`)];
  if (head.hash !== last) return [bad(count, "wrong-head", "its hash is not the one the head remembers")];
  return [];
}

function redactions(record: ChainedRecord): Pick<Required<RedactedEvent>, "bodies" | "headers"> {
  const nothing = { bodies: [], headers: [] };
  if (record.kind !== "event" || !record.header.includes('"redacted"')) return nothing;
  const event = headerFields(record.header)?.["event"];
  return isRedactedEvent(event) ? { bodies: event.bodies, headers: event.headers ?? [] } : nothing;
}

export function isRedactedEvent(event: unknown): event is RedactedEvent {
  if (!isRecord(event) || event["type"] !== "redacted" || !Array.isArray(event["bodies"])) return false;
  return event["headers"] === undefined || Array.isArray(event["headers"]);
}

function headerFields(header: string): Record<string, unknown> | null {
  try {
    const fields: unknown = JSON.parse(header);
    return isRecord(fields) ? fields : null;
  } catch {
    return null;
  }
}
