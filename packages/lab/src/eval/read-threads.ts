/** Threads of a store as sessions to evaluate. Reads one user's threads and writes nothing. */
import type { MessageRecord } from "@palimpsest/core/internal/log";
import { convert, type Dialect, type OpenAiMessage, parseMessage } from "@palimpsest/core/internal/message";
import { replay } from "palimpsest/internal/threads";
import type { Store } from "palimpsest/stores";
import type { Turn } from "../replay/transcript.ts";
import type { EvalInput, EvalSession } from "./read-file.ts";
import { newest, type SampleBounds } from "./sample.ts";

/** The newest threads first; what is beyond the bounds is not held. */
export async function readThreads(
  store: Store,
  ids: readonly string[],
  { name, of, bounds }: { readonly name: string; readonly of: number; readonly bounds: SampleBounds },
): Promise<EvalInput> {
  const sessions: EvalSession[] = [];
  let left = bounds.characters * THREADS_AT_MOST_LONG;
  for (const id of ids.slice(0, bounds.conversations)) {
    if (left <= 0) break;
    const session = await readThread(store, id, bounds);
    left -= session.turns.reduce((sum, { message }) => sum + JSON.stringify(message).length, 0);
    sessions.push(session);
  }
  return { name, sessions, of, threads: [], histories: [] };
}

/** Of all threads together so many times the characters of one. */
const THREADS_AT_MOST_LONG = 4;

async function readThread(store: Store, id: string, bounds: SampleBounds): Promise<EvalSession> {
  let records: MessageRecord[] = [];
  let of = 0;
  for await (const record of replay({ store }, id)) {
    of += 1;
    records.push(record);
    if (records.length >= 2 * bounds.messages) records = records.slice(-bounds.messages);
  }
  return { name: id, turns: newest(turnsOf(records), bounds), of };
}

/** Messages of one dialect that follow each other are converted together: a call and its results may be several messages. */
function turnsOf(records: readonly MessageRecord[]): Turn[] {
  const turns: Turn[] = [];
  for (let first = 0; first < records.length; ) {
    const { dialect } = records[first]!;
    let end = first;
    while (end < records.length && records[end]!.dialect === dialect) end += 1;
    const run = records.slice(first, end);
    const at = run.map((record) => Date.parse(record.at));
    for (const [index, message] of asOpenAi(run, dialect).entries())
      turns.push({ message, at: at[Math.min(index, at.length - 1)]!, output: null });
    first = end;
  }
  return turns;
}

function asOpenAi(records: readonly MessageRecord[], dialect: Dialect): readonly OpenAiMessage[] {
  return convert(
    records.map(({ body }) => parseMessage(dialect, body)),
    dialect,
    "openai",
  );
}
