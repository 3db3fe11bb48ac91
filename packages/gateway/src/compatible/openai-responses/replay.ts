/**
 * A response as a stream, for whoever lost it or comes later: the very events while they are in memory, with their numbers;
 * else events made from what the log has, numbered so that whoever asks for what comes after one misses nothing.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Fields } from "../vendor.ts";
import type { Client } from "../wire/client.ts";
import type { HeldCall } from "./held-call.ts";
import type { LiveResponse } from "./live-responses.ts";
import { noResponse } from "./refusals.ts";
import { eventsOf } from "./response-events.ts";
import { type FoundResponse, findResponse } from "./response-ids.ts";
import { eventText } from "./rewrite.ts";
import { storedResponse } from "./stored-response.ts";

const STREAM = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };

interface Followed {
  readonly found: FoundResponse;
  readonly live: LiveResponse | undefined;
  /** The number of the last event that the client has; -1: none. */
  readonly after: number;
}

export async function followResponse(held: HeldCall, { found, live, after }: Followed): Promise<undefined> {
  const { client, own } = held.call;
  if (live?.stream && !found.redacted) {
    live.flight.attach(behind(client, after));
    return live.ended as Promise<undefined>;
  }
  client.head(200, { ...STREAM, ...own });
  const ended = live === undefined ? await untilAnswered(held, found) : await afterEnd(held, live, found);
  const response = await storedResponse(held, ended);
  for (const event of eventsOf(response, ended.receipt?.sequence ?? 0))
    if (event.sequence_number > after) await client.write(Buffer.from(`${eventText(event)}\n\n`));
  client.end();
  return undefined;
}

async function afterEnd(held: HeldCall, live: LiveResponse, found: FoundResponse): Promise<FoundResponse> {
  await live.ended;
  return again(held, found);
}

const again = async ({ call, secret }: HeldCall, { id }: FoundResponse): Promise<FoundResponse> => {
  const found = await findResponse(call.threads.store, id, secret);
  if (found === null) throw noResponse(id);
  return found;
};

const PAUSE_MS = 250;

/** Another instance makes it: the log says when it is done. */
async function untilAnswered(held: HeldCall, found: FoundResponse): Promise<FoundResponse> {
  let now = found;
  while (!held.call.client.left.aborted && (await storedResponse(held, now))["status"] === "in_progress") {
    await pause(PAUSE_MS);
    now = await again(held, found);
  }
  return now;
}

/** Only events behind this number. Bytes come as whole events. */
function behind(client: Client, after: number): Client {
  if (after < 0) return client;
  return {
    ...client,
    async write(bytes) {
      const blocks = Buffer.from(bytes).toString().split("\n\n");
      const kept = blocks.filter((block) => block !== "" && numberOf(block) > after);
      if (kept.length > 0) await client.write(Buffer.from(kept.map((block) => `${block}\n\n`).join("")));
    },
  };
}

function numberOf(block: string): number {
  try {
    const { sequence_number: number } = JSON.parse(/^data: ?(.*)$/m.exec(block)?.[1] ?? "") as Fields;
    return typeof number === "number" ? number : Number.MAX_SAFE_INTEGER;
  } catch {
    return Number.MAX_SAFE_INTEGER;
  }
}
