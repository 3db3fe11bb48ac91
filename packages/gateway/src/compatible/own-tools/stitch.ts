/**
 * Several rounds of a provider's answer as one answer for the client: calls to tools of ours are left out, what was said
 * between them stays, and each round's usage is added up. The vendors' files beside this one say where these stand.
 */

import type { Origin } from "@palimpsest/core/internal/log";
import { readStored, readStoredAs, type Shape } from "@palimpsest/core/internal/message";
import { isRecord } from "@palimpsest/core/internal/text";
import type { StoredRecord } from "palimpsest/stores";
import { type JsonFields, parseFields } from "../../http/read-json.ts";
import { eventParser, type UpstreamEvent } from "../passage.ts";

export interface AnswerStitch {
  /** The next bytes of the round; returns what the client gets of them now. */
  add(bytes: Uint8Array): string;
  /** The round is over; `again` if another follows. Returns what the client gets now. */
  close(next: "again" | "end"): string;
}

/** How a vendor's clients name tools, and how its answers are stitched. */
export interface VendorTools {
  /** Names of the client's tools; null if the request leaves the model no choice, so that none of ours can be added. */
  named(body: JsonFields): readonly string[] | null;
  /** A tool of ours as the vendor's requests have it. */
  written(tool: { readonly name: string; readonly description: string; readonly inputSchema: object }): JsonFields;
  stitch(form: "stream" | "whole", options: StitchOptions): AnswerStitch;
}

export interface StitchOptions {
  readonly isOurs: (name: string) => boolean;
  /** The client's own tools, as it sent them; undefined if it sent none. */
  readonly tools: unknown;
}

/** What a vendor does with the events of a stream. */
interface StreamStitch {
  /** What the client gets of it now; what ends an answer is kept until `close`. */
  event(fields: JsonFields, event: UpstreamEvent): string;
  close(next: "again" | "end"): string;
}

export function streamStitch({ event, close }: StreamStitch): AnswerStitch {
  const parse = eventParser();
  return {
    add: (bytes) =>
      parse(bytes)
        .map((one) => {
          const fields = parseFields(one.data);
          return fields === null ? "" : event(fields, one);
        })
        .join(""),
    close,
  };
}

/** `merge`: the rounds' bodies as one. */
export function wholeStitch(merge: (bodies: readonly JsonFields[]) => JsonFields): AnswerStitch {
  const bodies: JsonFields[] = [];
  let pieces: Uint8Array[] = [];
  return {
    add(bytes) {
      pieces.push(bytes);
      return "";
    },
    close(next) {
      const text = Buffer.concat(pieces).toString();
      pieces = [];
      const body = parseFields(text);
      if (body === null) return next === "end" ? text : "";
      bodies.push(body);
      return next === "end" ? JSON.stringify(merge(bodies)) : "";
    },
  };
}

/** The client's numbers for what a provider numbers anew in each round: null for what is ours. */
export function clientPlaces() {
  let next = 0;
  let places = new Map<unknown, number | null>();
  return {
    of(index: unknown, isOurs: boolean): number | null {
      if (!places.has(index)) places.set(index, isOurs ? null : next++);
      return places.get(index) ?? null;
    },
    nextRound(): void {
      places = new Map();
    },
  };
}

/** Numbers are added up, also those inside; of everything else the last one holds. */
export function addedUp(rounds: readonly unknown[]): JsonFields | null {
  const reports = rounds.filter(isRecord);
  return reports.length === 0 ? null : reports.reduce(sumOf, {});
}

function sumOf(total: JsonFields, more: JsonFields): JsonFields {
  const sum: Record<string, unknown> = { ...total };
  for (const [name, value] of Object.entries(more)) {
    const before = total[name];
    if (typeof value === "number" && typeof before === "number") sum[name] = before + value;
    else if (isRecord(value)) sum[name] = sumOf(isRecord(before) ? before : {}, value);
    else if (value != null || before == null) sum[name] = value;
  }
  return sum;
}

/*
 * What a client has of a conversation in whose log calls to tools of ours stand: without these calls and their results, and
 * the rounds of one answer as one message. Results of ours are the only ones that no client has sent (`injected`).
 */

export interface LoggedMessage<M> {
  readonly seq: number;
  readonly origin: Origin;
  readonly message: M;
}

/** `seq` of a message: the last record that belongs to it. `join`: two rounds of an answer as the client has them. */
export function shownMessages<M>(
  logged: Iterable<LoggedMessage<M>>,
  shape: Shape<M>,
  join: (first: M, second: M) => M = shape.join,
): readonly LoggedMessage<M>[] {
  const shown: LoggedMessage<M>[] = [];
  const isEmpty = (message: M): boolean => shape.parts(message).length === 0;
  let open = false;
  const answered = new Set<string>();
  const settle = (): void => {
    if (answered.size === 0) return;
    const last = shown.at(-1)!;
    const message = withoutCalls(last.message, answered, shape);
    shown[shown.length - 1] = { ...last, message };
    open = shape.calls(message).length === 0;
    answered.clear();
  };
  for (const one of logged) {
    const own = one.origin === "injected" ? shape.answers(one.message) : [];
    if (own.length === 0) settle();
    const last = shown.at(-1);
    if (last !== undefined && own.length > 0) {
      for (const id of own) answered.add(id);
      shown[shown.length - 1] = { ...last, seq: one.seq };
    } else if (last !== undefined && open && shape.role(one.message) === "assistant") {
      shown[shown.length - 1] = {
        ...one,
        message: isEmpty(last.message) ? one.message : join(last.message, one.message),
      };
      open = false;
    } else {
      shown.push(one);
      open = false;
    }
  }
  settle();
  return shown;
}

function withoutCalls<M>(message: M, ids: ReadonlySet<string>, shape: Shape<M>): M {
  const parts = shape.parts(message);
  const kept = parts.flatMap((part, index) => (part.kind === "call" && ids.has(part.id) ? [] : [index]));
  return kept.length === parts.length ? message : shape.select(message, kept);
}

/**
 * Messages without the rounds at their end that came to no answer: the request failed there, and its client sends it again.
 * A round of which a call is the client's to answer is no such round.
 */
export async function* withoutFailedRounds<M>(
  records: AsyncIterable<StoredRecord>,
  shape: Shape<M>,
): AsyncGenerator<M> {
  let rounds: M[] = [];
  const open = new Set<string>();
  for await (const { record } of records) {
    if (record.kind !== "message") continue;
    for (const message of readStoredAs(record, shape)) {
      const own = record.origin === "injected" ? shape.answers(message) : [];
      const calls = shape.role(message) === "assistant" ? shape.calls(message) : [];
      for (const id of own) open.delete(id);
      if (own.length === 0 && (open.size > 0 || calls.length === 0)) {
        yield* rounds;
        rounds = [];
        open.clear();
      }
      for (const id of calls) open.add(id);
      if (calls.length > 0 || (own.length > 0 && rounds.length > 0)) rounds.push(message);
      else yield message;
    }
  }
  if (open.size > 0) yield* rounds;
}

/** Each record with the calls to tools of ours so far: results of ours stand next to their call, and are left out. In any order. */
export async function* withOwnCalls(records: AsyncIterable<StoredRecord>) {
  const ours = new Set<unknown>();
  let waiting: StoredRecord | null = null;
  for await (const stored of records) {
    const answered = ownAnswers(stored);
    for (const id of answered) ours.add(id);
    if (answered.length > 0) continue;
    if (waiting !== null) yield { stored: waiting, ours };
    waiting = stored;
  }
  if (waiting !== null) yield { stored: waiting, ours };
}

function ownAnswers({ record }: StoredRecord): readonly string[] {
  if (record.kind !== "message" || record.origin !== "injected") return [];
  const { shape, message } = readStored(record);
  return shape.answers(message);
}
