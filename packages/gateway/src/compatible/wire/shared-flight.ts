/**
 * An answer that nobody hears any more, told to the other instances for as long as it goes on: a client that asks again may
 * reach another one. Nothing is written before somebody has left, so an ordinary request costs nothing. Each event is one
 * line: the head first, then the bytes as they came, at last how it ended.
 */
import { createHash, randomUUID } from "node:crypto";
import type { SharedRuns } from "palimpsest/stores";
import type { Client } from "./client.ts";
import type { Flight } from "./flight.ts";

export interface SharedFlight {
  readonly runs: SharedRuns;
  /** What was asked, by whom. */
  readonly key: string;
  readonly threadId: string;
}

type Line =
  | { readonly head: readonly [number, Readonly<Record<string, string | string[]>>] }
  | { readonly bytes: string }
  | { readonly end: "ended" | "broken" };

const TTL_MS = 10_000;
const ROUND_MS = 100;

/** From the moment at which its only client has left. */
export function shareUnheard(flight: Flight, left: AbortSignal, shared: SharedFlight): void {
  left.addEventListener("abort", () => void share(flight, shared).catch(() => {}), { once: true });
}

async function share(flight: Flight, { runs, key, threadId }: SharedFlight): Promise<void> {
  if (flight.isHeard()) return;
  const lines: Line[] = [];
  let isOver = false;
  const end = (how: "ended" | "broken") => {
    lines.push({ end: how });
    isOver = true;
  };
  flight.watch({
    head: (status, headers) => void lines.push({ head: [status, headers] }),
    write: async (bytes) => void lines.push({ bytes: Buffer.from(bytes).toString("base64") }),
    end: () => end("ended"),
    breakOff: () => end("broken"),
    left: NEVER,
  });
  const [id, holder] = [randomUUID(), randomUUID()];
  const put = await runs.put({ id, threadId, model: null, request: requestOf(key), holder, ttlMs: TTL_MS });
  if (put.kind === "taken") return;
  let [written, isHeld] = [0, false];
  while (!isOver) {
    await round();
    const batch = lines.slice(written).map((line) => JSON.stringify(line));
    if (batch.length > 0) await runs.write(id, holder, { first: written + 1, events: batch });
    written += batch.length;
    const [own] = await runs.held(holder, TTL_MS);
    if (own?.follow !== true || isHeld) continue;
    // Somebody hears it elsewhere: it goes on to its end.
    isHeld = true;
    flight.attach(NOBODY);
  }
  const rest = lines.slice(written).map((line) => JSON.stringify(line));
  await runs.end(id, { holder, batch: { first: written + 1, events: rest }, outcome: "{}" });
}

/**
 * `joined`: the client got the answer that is under way on another instance, or as much of it as there was. One whose process
 * is gone before it said anything is none.
 */
export async function joinElsewhere(
  client: Client,
  { runs, key }: Pick<SharedFlight, "runs" | "key">,
): Promise<"joined" | "none"> {
  const id = await runs.find({ request: requestOf(key) });
  if (id === undefined || (await runs.ask(id, "follow")) === "missing") return "none";
  for (let last = 0; !client.left.aborted; ) {
    const page = await runs.read(id, last);
    const lines = page?.batches.flatMap(({ events }) => events) ?? [];
    last += lines.length;
    for (const line of lines) if ((await handOn(client, JSON.parse(line) as Line)) === "over") return "joined";
    if (lines.length > 0) continue;
    if (page === undefined || page.state !== "live") {
      if (last === 0) return "none";
      client.breakOff();
      return "joined";
    }
    await round();
  }
  return "joined";
}

async function handOn(client: Client, line: Line): Promise<"on" | "over"> {
  if ("head" in line) client.head(...line.head);
  else if ("bytes" in line) await client.write(Buffer.from(line.bytes, "base64"));
  else {
    if (line.end === "ended") client.end();
    else client.breakOff();
    return "over";
  }
  return "on";
}

const NEVER = new AbortController().signal;
const NOBODY: Client = { head() {}, write: async () => {}, end() {}, breakOff() {}, left: NEVER };

function requestOf(key: string): string {
  return createHash("sha256").update(key).digest("base64");
}

function round(): Promise<void> {
  return new Promise((wake) => setTimeout(wake, ROUND_MS));
}
