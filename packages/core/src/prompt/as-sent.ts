/**
 * A list of messages as its provider gets it, for a list that mostly grows at its end. What was repaired stays repaired:
 * only what came after the last place that nothing crosses is looked at again. Where that is in order it is taken as it
 * is, else the whole list is repaired anew, so that the result never depends on how the list came about.
 */
import { type Repaired, type RuleSet, repair, type Shape, violations } from "../message/index.ts";

export interface AsSent<M> extends Repaired<M> {
  readonly given: readonly M[];
  /** From here to their ends the list that was given and the one that is sent are the same objects. */
  readonly same: { readonly given: number; readonly sent: number };
}

export function asSent<M>(given: readonly M[], shape: Shape<M>, rules: RuleSet): AsSent<M> {
  const repaired = repair(given, shape, rules);
  return { ...repaired, given, same: sameEnd(given, repaired) };
}

/** The same as `asSent(given)`; `kept` says how many messages at the beginning are those of `before`. */
export function grownAsSent<M>(
  before: AsSent<M>,
  { given, kept, shape, rules }: { given: readonly M[]; kept: number; shape: Shape<M>; rules: RuleSet },
): AsSent<M> {
  const from = lastTurn(before, kept, shape);
  if (from === null) return asSent(given, shape, rules);
  const added = given.slice(from);
  if (violations(added, shape, withoutBeginning(rules)).length > 0) return asSent(given, shape, rules);
  const cut = before.same.sent + from - before.same.given;
  const messages = before.messages.slice(0, cut);
  const origins = before.origins.slice(0, cut);
  for (const [index, message] of added.entries()) {
    messages.push(message);
    origins.push(from + index);
  }
  return { messages, origins, repairs: before.repairs, given, same: before.same };
}

/**
 * Where the last user or assistant message stands that was kept and sent as it is. Whatever comes before it was settled
 * with it in its place; a result behind it that is in order answers a call behind it.
 */
function lastTurn<M>({ given, same }: AsSent<M>, kept: number, shape: Shape<M>): number | null {
  for (let index = kept - 1; index >= same.given; index -= 1) {
    const role = shape.role(given[index]!);
    if (role === "user" || role === "assistant") return index;
  }
  return null;
}

const growing = new WeakMap<RuleSet, RuleSet>();

/** The rules that speak of a list's beginning say nothing about what is added to it. */
function withoutBeginning(set: RuleSet): RuleSet {
  const cached = growing.get(set);
  if (cached !== undefined) return cached;
  const rules = set.rules.filter((rule) => rule !== "has-messages" && rule !== "user-first");
  const ruleSet = { name: set.name, rules };
  growing.set(set, ruleSet);
  return ruleSet;
}

function sameEnd<M>(given: readonly M[], { messages, origins }: Repaired<M>): AsSent<M>["same"] {
  if (messages === given) return { given: 0, sent: 0 };
  let at = given.length;
  let sent = messages.length;
  while (at > 0 && sent > 0 && messages[sent - 1] === given[at - 1] && origins[sent - 1] === at - 1) {
    at -= 1;
    sent -= 1;
  }
  return { given: at, sent };
}
