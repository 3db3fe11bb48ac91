/** What the recall tools answer, as text for a model: what was found in a thread, and its messages word for word. */
import { followUps } from "@palimpsest/core/internal/recall";
import { mediaName } from "@palimpsest/core/internal/summary";
import { type Part, shapeOf } from "@palimpsest/core/message";
import { renderHits } from "@palimpsest/core/recall";
import { charsPerToken } from "@palimpsest/core/tokens";
import type { ThreadDeps } from "../threads/writer.ts";
import { coverNote, type SearchCover, type SearchHit, searchAll, searchThread } from "./search.ts";

interface FindOptions {
  /** Most tokens of the answer, roughly. */
  readonly tokens: number;
  readonly scope?: "thread" | "user";
  /** The question that is being answered: it is no memory of itself. */
  readonly except?: number | null | undefined;
}

type Searched = Pick<ThreadDeps, "store" | "tools" | "embedder" | "onEmbedding">;

export async function findText(
  { store, tools, embedder, onEmbedding }: Searched,
  threadId: string,
  query: string,
  { tokens, scope = "thread", except = null }: FindOptions,
): Promise<string> {
  const settings = { tools, embedder, onEmbedding, askedBy: threadId };
  const result =
    scope === "user" ? await searchAll(store, query, settings) : await searchThread(store, threadId, query, settings);
  const cover = coverText(result);
  if (result.kind === "nothing") return `Nothing found (${result.reason}): try other words.${cover}`;
  const hits = result.hits.filter((hit) => hit.threadId !== threadId || hit.seq !== except);
  return `${hitsText(hits, { tokens, question: query }) || "Nothing found: try other words."}${cover}`;
}

/** A last line for a model or a person; empty where all that was said has been searched. */
export function coverText(cover: SearchCover): string {
  const note = coverNote(cover);
  return note === null ? "" : `\n(${note})`;
}

/** What is kept free for the line of what to ask for next. */
const LINE_TOKENS = 40;

/** The hits that fit, and in a last line what else they name; empty when none fits. */
export function hitsText(
  hits: readonly SearchHit[],
  { tokens, question }: { readonly tokens: number; readonly question: string },
): string {
  const count = charsPerToken(4);
  const { text, shown } = renderHits(hits, { tokens: tokens - LINE_TOKENS, count, question });
  const line = text === "" ? "" : followUps(question, hits, shown);
  return count(line) > LINE_TOKENS ? text : `${text}${line}`;
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
    const shape = shapeOf(record.dialect);
    const message = JSON.parse(record.body) as never;
    const whole = shape.parts(message).map(words).filter(Boolean).join("\n");
    const text = whole.slice(skip, skip + room);
    lines.push(`${record.seq} ${shape.role(message)}: ${text}`);
    const end = skip + text.length;
    if (end < whole.length) return [...lines, `(goes on: recall_read from ${record.seq} offset ${end})`].join("\n");
    room -= text.length;
    skip = 0;
    if (room <= 0 && record.seq < to) return [...lines, `(goes on: recall_read from ${record.seq + 1})`].join("\n");
  }
  return lines.length === 0 ? `There is no message from ${from} to ${to}.` : lines.join("\n");
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
