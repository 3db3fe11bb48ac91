/** The last rung, and the floor below it: the smallest prompt that can be. */

import type { Shape } from "../message/shape.ts";
import type { NumberedMessage } from "../summary/internal.ts";
import { type Originals, whereMessage } from "../summary/render-lines.ts";
import { clip, failingLines, oneLine } from "../text/names.ts";
import { STUB_TOKENS } from "./clamp.ts";
import { type Boundary, type CutSizes, makeCut } from "./cut.ts";
import type { Plan, PlanInput, PlanOptions } from "./plan.ts";
import type { Limits } from "./policy.ts";

/** What can't be shed, part by part; larger than the window means that no prompt exists. */
export interface Floor {
  readonly fixed: number;
  /** System messages, and the acknowledgement after the summary. */
  readonly systems: number;
  readonly reserve: number;
  readonly request: number;
  readonly summary: number;
  readonly total: number;
  readonly window: number;
}

const REQUEST_TOKENS = 256;

/** The last rung: everything is hidden, the request and a digest of the open calls stand for it. */
export function collapse<M>(input: PlanInput<M>, sizes: CutSizes, limits: Limits): Plan {
  const end: Boundary = { index: input.prompt.entries.length, kind: "group" };
  const requestIndex = sizes.request(end);
  const shortened = (most: number) => {
    const { entries, excess } = sizes.clamps(end, most);
    const request = requestIndex < 0 ? 0 : sizes.after(end, most, 0).tokens + excess - sizes.base;
    return { entries, request, room: limits.fits - sizes.base - request };
  };
  // The other half is for summary and digest.
  const half = shortened(Math.max(REQUEST_TOKENS, Math.floor((limits.lowWater - sizes.base) / 2)));
  const { entries, request, room } = half.room < 2 * STUB_TOKENS ? shortened(REQUEST_TOKENS) : half;
  if (room < STUB_TOKENS) return { kind: "impossible", floor: floorOf(input, sizes, request) };
  const ample = Math.min(room, Math.max(STUB_TOKENS * 2, limits.lowWater - sizes.base - request));
  const summary = Math.max(STUB_TOKENS, Math.min(limits.maxSummary, Math.floor(ample / 2)));
  const digest = Math.max(0, ample - summary);
  return {
    kind: "compact",
    rung: "collapse",
    cut: makeCut(input.prompt, sizes, end, { summary, quotes: 0, digest }),
    entries,
    reason: input.cause === "automatic" ? "window" : input.cause,
    tokensBefore: sizes.total,
    tokensAfter: sizes.base + request + summary + digest,
    maxTokens: limits.fits,
    goal: "window",
  };
}

function floorOf({ window }: PlanOptions, sizes: CutSizes, request: number): Floor {
  const { fixed } = sizes;
  const total = sizes.base + window.reserve + request + STUB_TOKENS;
  return {
    fixed,
    systems: sizes.base - fixed,
    reserve: window.reserve,
    request,
    summary: STUB_TOKENS,
    total,
    window: window.size,
  };
}

/*
 * Describes the open tool calls in a line each, for when even their clamped results don't fit. Every
 * call is named as long as there is room; failures first, because they decide what happens next.
 */

export function openGroupDigest<M>(
  entries: readonly NumberedMessage<M>[],
  shape: Shape<M>,
  {
    maxTokens,
    count,
    originals,
  }: { readonly maxTokens: number; readonly count: (text: string) => number; readonly originals: Originals },
): string {
  const group = openGroup(entries, shape);
  const last = entries.at(-1)?.seq ?? 0;
  const where = whereMessage(last, originals);
  const heading = `So far ${group.length} tool calls were made for this; the whole results are messages up to ${last}${where === "" ? "" : ` (${where})`}.`;
  let left = maxTokens - count(heading) - 16;
  const lines: string[] = [];
  for (const { line } of group.toSorted((a, b) => Number(b.failed) - Number(a.failed))) {
    const cost = count(`${line}\n`);
    if (cost > left) break;
    left -= cost;
    lines.push(line);
  }
  if (lines.length === 0) return clip(heading, Math.max(40, maxTokens * 3));
  const more = group.length - lines.length;
  return [heading, ...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join("\n");
}

interface CallLine {
  readonly line: string;
  readonly failed: boolean;
}

/** The calls of the last message that makes any, with what answered them. */
function openGroup<M>(entries: readonly NumberedMessage<M>[], shape: Shape<M>): CallLine[] {
  const at = entries.findLastIndex(({ message }) => shape.calls(message).length > 0);
  if (at < 0) return [];
  const results = entries
    .slice(at + 1)
    .flatMap(({ seq, message }) =>
      shape.parts(message).flatMap((part) => (part.kind === "result" ? [{ seq, part }] : [])),
    );
  const byId = Map.groupBy(results, ({ part }) => part.id);
  return shape.parts(entries[at]!.message).flatMap((part): CallLine[] => {
    if (part.kind !== "call") return [];
    const answer = byId.get(part.id)?.[0];
    const failed = answer?.part.isError === true || failingLines(answer?.part.text ?? "", 1).length > 0;
    const text = answer === undefined ? "no result" : oneLine(answer.part.text, 80);
    const where = answer === undefined ? "" : ` [${answer.seq}]`;
    return [{ line: `- ${part.name}(${oneLine(part.input, 60)}): ${text}${where}`, failed }];
  });
}
