/**
 * Several rounds of a provider's answer as one answer for the client: calls to tools of ours are left out, what was said
 * between them stays, and each round's usage is added up. The vendors' files beside this one say where these stand.
 */
import { isRecord } from "@palimpsest/core/internal/text";
import type { JsonFields } from "../../http/read-json.ts";
import { parseFields } from "../../http/read-json.ts";
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
