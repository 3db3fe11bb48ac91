/**
 * A view as the provider gets it: what was lent joined to its turn, and everything made acceptable. A view is asked for
 * several times a step (the trigger, the plan, the count, the request), and is a value: it is repaired once.
 */

import { sent } from "@palimpsest/core/internal/log";
import type { MessageSource, ViewEntry } from "@palimpsest/core/log";
import { type Repaired, type RuleSet, repair, type Shape } from "@palimpsest/core/message";

export interface SentMessages<M> extends Repaired<M> {
  /** What each message begins with: where several turns had to become one, the first of them says so. */
  readonly sources: readonly MessageSource[];
}

interface Known {
  readonly rules: RuleSet;
  readonly made: SentMessages<unknown>;
}

/** By view; one list is only ever read through one shape and, all but always, by one rule set. */
const known = new WeakMap<readonly ViewEntry<never>[], Known>();

export function sentMessages<M>(view: readonly ViewEntry<M>[], shape: Shape<M>, rules: RuleSet): SentMessages<M> {
  const found = known.get(view as readonly ViewEntry<never>[]);
  if (found?.rules === rules) return found.made as SentMessages<M>;
  const repaired = repair(
    view.map((entry) => sent(entry, shape)),
    shape,
    rules,
  );
  const made = { ...repaired, sources: repaired.origins.map((at) => view[at]?.source ?? "added") };
  known.set(view as readonly ViewEntry<never>[], { rules, made });
  return made;
}
