/**
 * The map of a stored thread. It is kept in memory while the process lives and extended by what was appended since, so that
 * asking again costs what is new; an erasure in between makes it anew. Reads only.
 */
import { setImmediate as othersTurn } from "node:timers/promises";
import {
  createThreadMap,
  isEcho,
  type MapLine,
  type MapMessage,
  type MapText,
  mapText,
  type ThreadMap,
} from "@palimpsest/core/internal/recall";
import type { MessageRecord } from "@palimpsest/core/log";
import { charsPerToken } from "@palimpsest/core/tokens";
import type { Store, StoredRecord } from "../stores/store.ts";
import { recallShape } from "./catch-up.ts";
import { type SearchSettings, searchThread } from "./search.ts";

interface MapDeps extends Pick<SearchSettings, "tools" | "embedder" | "onEmbedding"> {
  readonly store: Store;
}

export interface MapRequest {
  /** Most tokens of the text, roughly. */
  readonly tokens: number;
  /** Which stretches to show where not all fit; without it the newest. */
  readonly question?: string | undefined;
}

/** Null if there is no such thread. */
export async function mapOfThread(
  deps: MapDeps,
  threadId: string,
  { tokens, question = "" }: MapRequest,
): Promise<MapText | null> {
  const lines = await mapLines(deps, threadId);
  if (lines === null) return null;
  const count = charsPerToken(4);
  const whole = mapText(lines, { tokens, count });
  if (whole.shown.length === lines.length || question.trim() === "") return whole;
  const found = await searchThread(deps.store, threadId, question, { ...deps, limit: CANDIDATES });
  if (found.kind === "nothing") return whole;
  const scores = new Map(found.hits.map(({ seq, score }) => [seq, score]));
  return mapText(lines, { tokens, count, scores });
}

/** Hits that decide which stretches are shown. */
const CANDIDATES = 200;

interface KnownMap {
  readonly map: ThreadMap;
  /** The last record that it holds, and that record's hash: it proves all before it. */
  through: number;
  hash: string;
}

/** Threads whose maps are kept at once; the one that was asked for least recently goes first. */
const KEPT = 64;
const kept = new WeakMap<Store, Map<string, KnownMap>>();

async function mapLines({ store, tools }: MapDeps, threadId: string): Promise<readonly MapLine[] | null> {
  if ((await store.header(threadId)) === undefined) return null;
  const maps = kept.get(store) ?? new Map<string, KnownMap>();
  kept.set(store, maps);
  const before = maps.get(threadId);
  let known = before !== undefined && (await holds(store, threadId, before)) ? before : newMap();
  maps.delete(threadId);
  if ((await extend(known, { store, tools }, threadId)) === "erased") {
    known = newMap();
    await extend(known, { store, tools }, threadId);
  }
  maps.set(threadId, known);
  for (const oldest of maps.keys()) if (maps.size > KEPT) maps.delete(oldest);
  return known.map.lines();
}

function newMap(): KnownMap {
  return { map: createThreadMap(), through: 0, hash: "" };
}

/** Whether the thread still begins with what the map was made of: one of the same name may be another. */
async function holds(store: Store, threadId: string, { through, hash }: KnownMap): Promise<boolean> {
  if (through === 0) return true;
  for await (const { chained } of store.records(threadId, { range: [through, through], bodies: "none" }))
    return chained.hash === hash;
  return false;
}

/** A long log gives way to other work after so many. */
const RECORDS_AT_ONCE = 256;

/** `erased`: words may be gone that the map still holds. Never from the beginning: it reads what is left. */
async function extend(
  known: KnownMap,
  { store, tools }: Pick<MapDeps, "store" | "tools">,
  threadId: string,
): Promise<"extended" | "erased"> {
  const fromStart = known.through === 0;
  const range = [known.through + 1, Number.MAX_SAFE_INTEGER] as const;
  for await (const stored of store.records(threadId, { range, kinds: ["message", "event"] })) {
    const { record } = stored;
    if (record.kind === "event" && !fromStart && record.event.type === "redacted") return "erased";
    if (record.seq % RECORDS_AT_ONCE === 0) await othersTurn();
    known.through = record.seq;
    known.hash = stored.chained.hash;
    const message = record.kind === "message" ? mapMessage(stored, record, tools) : null;
    if (message !== null) known.map.add(message);
  }
  return "extended";
}

function mapMessage(
  { redacted }: StoredRecord,
  { seq, at, dialect, body, origin }: MessageRecord,
  tools: MapDeps["tools"],
): MapMessage | null {
  if (redacted || origin === "injected") return null;
  const shape = recallShape(dialect, tools);
  const message: unknown = JSON.parse(body);
  const role = shape.role(message);
  if (role === "system") return null;
  const parts = shape.parts(message);
  const words = parts.map((part) => (part.kind === "text" ? part.text : "")).join("\n");
  const inputs = parts.flatMap((part) => (part.kind === "call" && !isEcho(part) ? [part.input] : []));
  return { seq, role, at, words, inputs };
}
