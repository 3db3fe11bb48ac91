/** Reads what an answer reports of its tokens while its bytes pass by, whatever its protocol is. */
import { isRecord } from "@palimpsest/core/internal/text";
import { readUsage } from "palimpsest/internal/models";
import { valueEnd } from "./raw-json.ts";
import { objectReader } from "./server-events.ts";
import { formOf, type UpstreamAnswer } from "./upstream.ts";

export interface UsageReader {
  read(bytes: Uint8Array): void;
  /** Null: nothing was reported. */
  usage(): ReturnType<typeof readUsage>;
  /** About as many as the tokens that were said: events of a stream, else bytes. */
  said(): { readonly events: number; readonly bytes: number };
}

export function usageReader(answer: Pick<UpstreamAnswer, "headers">): UsageReader {
  if (formOf(answer) === "stream") return ofStream();
  return /json/i.test(String(answer.headers["content-type"] ?? "")) ? ofWhole() : NOTHING;
}

function ofStream(): UsageReader {
  let reported: Record<string, unknown> = {};
  let events = 0;
  const read = objectReader((fields) => {
    events += 1;
    // The parts of a report may come one after the other.
    for (const place of [fields, fields["message"], fields["response"]])
      if (isRecord(place) && isRecord(place["usage"])) reported = { ...reported, ...place["usage"] };
  });
  return { read, usage: () => readUsage(reported), said: () => ({ events, bytes: 0 }) };
}

function ofWhole(): UsageReader {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  return {
    read(piece) {
      pieces.push(piece);
      bytes += piece.length;
    },
    usage: () => usageIn(Buffer.concat(pieces)),
    said: () => ({ events: 0, bytes }),
  };
}

const NOTHING: UsageReader = { read() {}, usage: () => null, said: () => ({ events: 0, bytes: 0 }) };

const FIELD = Buffer.from('"usage"');
/** Other fields of this name may stand in what was said as JSON. */
const MOST_PLACES = 16;

/** Found without parsing the rest, which may be long: in text these bytes can't stand, since its quotes are escaped. */
function usageIn(bytes: Buffer): ReturnType<typeof readUsage> {
  let at = bytes.lastIndexOf(FIELD);
  for (let place = 0; at !== -1 && place < MOST_PLACES; place += 1) {
    const start = bytes.indexOf(OPEN_BRACE, at);
    const usage = start === -1 ? null : readUsage(objectIn(bytes.subarray(start, valueEnd(bytes, start))));
    if (usage !== null) return usage;
    at = at === 0 ? -1 : bytes.lastIndexOf(FIELD, at - 1);
  }
  return null;
}

function objectIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
}

const OPEN_BRACE = 0x7b;
