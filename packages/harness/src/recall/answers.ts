/** What the recall tools answer, as text for a model: what was found in a thread, and its messages word for word. */

import { setImmediate as othersTurn } from "node:timers/promises";
import type { MessageRecord } from "@palimpsest/core/internal/log";
import { type Part, readStored } from "@palimpsest/core/internal/message";
import {
  asksForCourse,
  createThreadMap,
  followUps,
  isEcho,
  type MapLine,
  type MapMessage,
  type MapText,
  mapText,
  renderHits,
  type ThreadMap,
} from "@palimpsest/core/internal/recall";
import { mediaName } from "@palimpsest/core/internal/summary";
import { flatten } from "@palimpsest/core/internal/text";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import type { Store, StoredRecord } from "../stores/store.ts";
import type { ThreadDeps } from "../thread/writer.ts";
import { recallShape } from "./catch-up.ts";
import {
  courseScores,
  coverNote,
  type SearchCover,
  type SearchHit,
  type SearchSettings,
  type ShownWith,
  searchAll,
  searchThread,
  whyNothing,
} from "./search.ts";
import { refOf } from "./stored-index.ts";

interface FindOptions {
  /** Most tokens of the answer, roughly. */
  readonly tokens: number;
  readonly scope?: "thread" | "user";
  /** The question that is being answered: it is no memory of itself. */
  readonly except?: number | null | undefined;
  readonly corrected?: FindCorrected | undefined;
}

/** Which of these hits state something that was corrected since, by `refOf`, with what holds now, if anything does. */
export type FindCorrected = (
  hits: readonly SearchHit[],
) => Promise<ReadonlyMap<string, { readonly now: string | null }>>;

type Searched = Pick<ThreadDeps, "store" | "tools" | "embedder" | "onEmbedding">;

export async function findText(
  { store, tools, embedder, onEmbedding }: Searched,
  threadId: string,
  query: string,
  { tokens, scope = "thread", except = null, corrected }: FindOptions,
): Promise<string> {
  const map =
    scope === "thread" && asksForCourse(query)
      ? await mapOfThread({ store, tools, embedder, onEmbedding }, threadId, {
          question: query,
          tokens: Math.floor(tokens * MAP_SHARE),
        })
      : null;
  const course = map === null ? "" : `${mapNote(map)}${map.text}`;
  const limit = hitsWithin(tokens);
  const settings = { limit, tools, embedder, onEmbedding, askedBy: threadId, standing: "with" } as const;
  const result =
    scope === "user" ? await searchAll(store, query, settings) : await searchThread(store, threadId, query, settings);
  const cover = coverText(result);
  const isOther = (hit: SearchHit): boolean => hit.threadId !== threadId || hit.seq !== except;
  const hits = result.kind === "found" ? result.hits.filter(isOther) : [];
  const shown = { weights: result.weights, standing: result.standing?.filter(isOther) };
  const room = tokens - (map?.tokens ?? 0);
  const text = await hitsText(hits, { tokens: room, question: query, corrected, ...shown });
  if (result.kind === "nothing" && course === "")
    return `${whyNothing(result.reason)}${cover}${text === "" ? "" : `\n${text}`}`;
  return `${course}${text || (course === "" ? whyNothing("no-match") : "")}${cover}`;
}

/** How many hits to ask for: they are shown in short windows, and some that don't fit are left out. */
export function hitsWithin(tokens: number): number {
  return Math.min(200, Math.max(20, Math.ceil(tokens / 20)));
}

/** Of an answer about a course of events, the map has the most; the rest is for messages that say it word for word. */
const MAP_SHARE = 0.8;

/** The first line of a map: what it is, how much of the thread it shows, and how to read on. */
export function mapNote({ shown, of }: Pick<MapText, "shown" | "of">): string {
  const part = shown.length === of ? "" : `, ${shown.length} of ${of} stretches`;
  return `Map of the conversation (messages, date, what it was about${part}); read a range with recall_read:\n`;
}

/** A last line for a model or a person; empty where all that was said has been searched. */
export function coverText(cover: SearchCover): string {
  const note = coverNote(cover);
  return note === null ? "" : `\n(${note})`;
}

/** What is kept free for the line of what to ask for next. */
const LINE_TOKENS = 40;

/**
 * What holds now of all that was corrected, the hits that fit, and in a last line what else they name; empty when none fits.
 * A hit that a correction has superseded says so.
 */
export async function hitsText(
  hits: readonly SearchHit[],
  { tokens, question, corrected, weights, standing }: HitsTextOptions,
): Promise<string> {
  const count = charsPerToken(4);
  const superseded =
    (await corrected?.([...hits, ...(standing ?? [])])) ?? new Map<string, { readonly now: string | null }>();
  const facts = new Set(
    [...superseded.values()].flatMap(({ now }) => (now === null ? [] : [`Holds now: ${flatten(now)}\n`])),
  );
  const first = [...facts].join("");
  const marked = hits.map((hit) =>
    superseded.has(refOf(hit)) ? { ...hit, speaker: `${hit.speaker} (superseded)` } : hit,
  );
  const room = tokens - LINE_TOKENS - count(first);
  const holds = (hit: SearchHit): boolean => !superseded.has(refOf(hit));
  const current = hits.filter(holds);
  const lane = standing?.filter(holds);
  const { text, shown } = renderHits(marked, { tokens: room, count, question, weights, standing: lane });
  const line = text === "" ? "" : followUps(question, current, shown);
  return `${first}${text}${count(line) > LINE_TOKENS ? "" : line}`;
}

interface HitsTextOptions extends Pick<FindOptions, "tokens" | "corrected">, ShownWith {
  readonly question: string;
}

interface RecordPage {
  readonly from: number;
  readonly to: number;
  readonly offset: number;
  readonly characters: number;
}

/** Ends with where to go on, so that a long message or range can be read in as many calls as it takes. */
export async function readText(
  { store }: Searched,
  threadId: string,
  { from, to, offset, characters }: RecordPage,
): Promise<string> {
  let room = characters;
  let skip = offset;
  const lines: string[] = [];
  for await (const { record } of store.records(threadId, {
    range: [from, Math.max(from, to)],
    kinds: ["message"],
  })) {
    if (record.kind !== "message") continue;
    const { shape, message } = readStored(record);
    const whole = shape.parts(message).map(words).filter(Boolean).join("\n");
    const text = whole.slice(skip, skip + room);
    lines.push(readLine(record.seq, shape.role(message), text));
    const end = skip + text.length;
    if (end < whole.length) return [...lines, `(goes on: recall_read from ${record.seq} offset ${end})`].join("\n");
    room -= text.length;
    skip = 0;
    if (room <= 0 && record.seq < to) return [...lines, `(goes on: recall_read from ${record.seq + 1})`].join("\n");
  }
  return lines.length === 0 ? `There is no message from ${from} to ${to}.` : lines.join("\n");
}

/** Its further lines are indented and steer no screen: a text can't look like another message or like a line of ours. */
export function readLine(seq: number, role: string, text: string): string {
  const lines = text.split(/\r\n|[\n\r\v\f\u0085\p{Zl}\p{Zp}]/u).map((line) => line.replace(/(?!\t)\p{Cc}/gu, ""));
  return `${seq} ${role}: ${lines.join("\n  ")}`;
}

function words(part: Part): string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "result":
      return [part.text, ...part.images.map((image) => `[${mediaName(image)}]`)].join("\n");
    case "call":
      return `[calls ${part.name} ${part.input}]`;
    case "image":
      return `[${mediaName(part)}]`;
    case "file":
      return `[${mediaName(part)}]${part.encoding === "text" ? `\n${part.data}` : ""}`;
    case "reasoning":
    case "other":
      return "";
  }
}

// The map of a stored thread. It is kept in memory while the process lives and extended by what was appended since,
// so that asking again costs what is new; an erasure in between makes it anew. Reads only.

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
  const scores = await courseScores(deps.store, threadId, question, deps);
  return scores.size === 0 ? whole : mapText(lines, { tokens, count, scores });
}

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
  const message: object = JSON.parse(body);
  const role = shape.role(message);
  if (role === "system") return null;
  const parts = shape.parts(message);
  const words = parts.map((part) => (part.kind === "text" ? part.text : "")).join("\n");
  const inputs = parts.flatMap((part) => (part.kind === "call" && !isEcho(part) ? [part.input] : []));
  return { seq, role, at, words, inputs };
}
