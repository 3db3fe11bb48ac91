/** The last rung, and the floor below it: the smallest prompt that can be. */

import { STUB_TOKENS } from "./choice.ts";
import type { Boundary } from "./cut.ts";
import { makeCut } from "./cut.ts";
import type { CutSizes } from "./cut-sizes.ts";
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
  const { entries, excess } = sizes.clamps(end, REQUEST_TOKENS);
  const request = requestIndex < 0 ? 0 : sizes.after(end, REQUEST_TOKENS, 0).tokens + excess - sizes.base;
  const room = limits.fits - sizes.base - request;
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
