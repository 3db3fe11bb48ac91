/** Asks the store which threads a request may belong to, in as few reads as it takes, and has `match` decide. */
import type { MessageRecord } from "@palimpsest/core/log";
import { convert, type Dialect, type Shape } from "@palimpsest/core/message";
import type { MatchRow, MatchRows, Store } from "palimpsest/stores";
import { type ChainState, chainOf, type Place, type Secret, START } from "../matching/chain.ts";
import { type Candidate, depthOf, type Match, match, type Request } from "../matching/match.ts";

export interface Asking<M> extends Request {
  readonly messages: readonly M[];
  readonly shape: Shape<M>;
  readonly secret: Secret;
  /** The thread that the client named. */
  readonly named: string | null;
  /** For a thread that is made now. */
  readonly agentName: string;
}

export type MatchingStore = Store & { readonly matches: MatchRows };

export async function findMatch<M extends object>(store: MatchingStore, asking: Asking<M>): Promise<Match> {
  const { named, group } = asking;
  const rows = await deepestRows(store, asking);
  const candidates = await Promise.all(rows.map((row) => candidateOf(store, asking, row)));
  const hasNamed = named !== null && (await store.header(named)) !== undefined;
  const run = candidates.length === 0 ? await runIn(store, asking, hasNamed) : null;
  const newest =
    candidates.length === 0 && run === null && group !== null ? await store.matches.newest(group) : undefined;
  return match(asking, { candidates, run, named: hasNamed ? named : null, groupThread: newest?.threadId ?? null });
}

/** Threads alike at the deepest place; more than a few are no help. */
const MOST_ALIKE = 8;
/** Places asked for at once, from the last answer on: a conversation that goes on is known by one of its last. */
const FIRST_PLACES = 4;
const PLACES = 256;

export async function deepestRows<M>(
  { matches }: MatchingStore,
  { places, named }: Asking<M>,
): Promise<readonly MatchRow[]> {
  let asked: string[] = [];
  let most = FIRST_PLACES;
  for (let at = places.length - 1; at >= 0; at -= 1) {
    if (places[at]!.answer !== null) asked.push(places[at]!.hash);
    if (asked.length < most && at > 0) continue;
    const rows = asked.length === 0 ? [] : await matches.find(asked);
    const own = named === null ? rows : rows.filter(({ threadId }) => threadId === named);
    if (own.length > 0) return own.filter(({ hash }) => hash === own[0]!.hash).slice(0, MOST_ALIKE);
    asked = [];
    most = PLACES;
  }
  return [];
}

export async function candidateOf<M extends object>(
  store: Store,
  asking: Asking<M>,
  row: MatchRow,
): Promise<Candidate> {
  const { messages, shape } = asking;
  const depth = depthOf(asking, row.hash) ?? 0;
  const from: ChainState = { hash: row.hash, pending: [], calls: shape.calls(messages[depth - 1]!) };
  return { ...row, tail: await tailOf(store, asking, { row, from }), state: "free" };
}

/** What stands behind a place, up to the next answer. */
export async function tailOf<M extends object>(
  store: Store,
  { shape, secret }: Pick<Asking<M>, "shape" | "secret">,
  { row, from }: { readonly row: Pick<MatchRow, "threadId" | "seq" | "version">; readonly from: ChainState },
): Promise<readonly Place[]> {
  const places: Place[] = [];
  if (row.version <= row.seq) return places;
  let state = from;
  const query = { range: [row.seq + 1, row.version], kinds: ["message"] } as const;
  for await (const { record } of store.records(row.threadId, query)) {
    if (record.kind !== "message") continue;
    const next = chainOf(messagesOf(record, shape), { shape, secret, from: state });
    state = next.state;
    places.push(...next.places);
    if (next.places.some(({ answer }) => answer !== null)) break;
  }
  return places;
}

export function messagesOf<M extends object>({ body, dialect }: MessageRecord, shape: Shape<M>): readonly M[] {
  const value: unknown = JSON.parse(body);
  if (dialect === shape.dialect) return [value as M];
  return convert([value as never], dialect, shape.dialect as Dialect) as unknown as readonly M[];
}

/** A run of one's own answers: fewer could be anybody's. */
const LEAST_ANSWERS = 2;

/** Looks for the request as a stretch in the middle of a thread of that name or group: its client cut the head off. */
async function runIn<M extends object>(store: MatchingStore, asking: Asking<M>, hasNamed: boolean) {
  const { places, messages, named, group, shape, secret } = asking;
  const answers = places.flatMap(({ answer }, index) => (answer === null ? [] : [{ answer, index }]));
  const last = answers.at(-1);
  if (last === undefined || answers.length < LEAST_ANSWERS || (!hasNamed && group === null)) return null;
  const scope = hasNamed ? { threadId: named! } : { group: group! };
  const rows = await store.matches.answers(scope, [last.answer]);
  for (const row of rows.toReversed().slice(0, MOST_ALIKE)) {
    const stands = await standsThere(store, asking, { row, messages: messages.slice(0, last.index + 1) });
    if (!stands) continue;
    const from: ChainState = { hash: places[last.index]!.hash, pending: [], calls: shape.calls(messages[last.index]!) };
    const tail = await tailOf(store, { shape, secret }, { row, from });
    return { ...row, tail, state: "free" as const, depth: last.index + 1 };
  }
  return null;
}

/** Whether exactly these messages stand in the log up to the row's answer. */
async function standsThere<M extends object>(
  store: Store,
  { shape, secret }: Asking<M>,
  { row, messages }: { readonly row: MatchRow; readonly messages: readonly M[] },
): Promise<boolean> {
  const stored: M[] = [];
  const query = { range: [1, row.seq], kinds: ["message"], order: "descending" } as const;
  for await (const { record } of store.records(row.threadId, query)) {
    if (record.kind !== "message") continue;
    stored.unshift(...messagesOf(record, shape));
    if (stored.length >= messages.length) break;
  }
  if (stored.length < messages.length) return false;
  const hash = (list: readonly M[]) => chainOf(list, { shape, secret, from: { ...START } }).places.at(-1)?.hash;
  return hash(stored.slice(-messages.length)) === hash(messages);
}
