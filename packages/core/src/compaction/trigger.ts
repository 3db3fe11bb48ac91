/**
 * Whether a view asks to be compacted: any threshold reached starts it, compared with `>=`.
 */
import { type Policy, type Threshold, tokensOf, type Window } from "./policy.ts";

export interface Fill {
  /** The whole request: system prompt, tool schemas, messages. */
  readonly tokens: number;
  /** Messages in the view, the system prompt not counted. */
  readonly messages: number;
}

export type TriggerCheck = { readonly met: false } | { readonly met: true; readonly threshold: Threshold };

export function checkTrigger(policy: Policy, fill: Fill, window: Window): TriggerCheck {
  const threshold = policy.trigger.find((candidate) => {
    const tokens = tokensOf(candidate, window);
    return tokens === null ? fill.messages >= candidate.value : fill.tokens >= tokens;
  });
  return threshold === undefined ? { met: false } : { met: true, threshold };
}
