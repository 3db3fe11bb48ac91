/**
 * What a client has of a conversation in whose log calls to tools of ours stand: without these calls and their results, and
 * the rounds of one answer as one message. Results of ours are the only ones that no client has sent (`injected`).
 */
import type { Origin } from "@palimpsest/core/log";
import { type Shape, shapeOf } from "@palimpsest/core/message";
import type { StoredRecord } from "palimpsest/stores";

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
  for (const one of logged) {
    const last = shown.at(-1);
    const own = one.origin === "injected" ? shape.answers(one.message) : [];
    if (last !== undefined && own.length > 0) {
      const message = withoutCalls(last.message, own, shape);
      shown[shown.length - 1] = { ...last, seq: one.seq, message };
      open = shape.calls(message).length === 0;
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
  return shown;
}

function withoutCalls<M>(message: M, ids: readonly string[], shape: Shape<M>): M {
  const parts = shape.parts(message);
  const kept = parts.flatMap((part, index) => (part.kind === "call" && ids.includes(part.id) ? [] : [index]));
  return kept.length === parts.length ? message : shape.select(message, kept);
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
  return shapeOf(record.dialect).answers(JSON.parse(record.body) as never);
}
