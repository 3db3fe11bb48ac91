/** Several ways that one conversation went, told apart: what each shares with those before it, and what it adds. */
import type { ImportedMessage } from "../conversation.ts";
import type { Branch } from "./format.ts";

/**
 * A message and all before it. Ways that part share what they have in common: a tree's ways take as much room as its
 * messages, however many of them end late.
 */
export interface BranchMessage {
  readonly before: BranchMessage | null;
  readonly message: () => ImportedMessage;
}

/** The way on which these are said after the others. */
export function saidAfter(before: BranchMessage | null, messages: readonly ImportedMessage[]): BranchMessage | null {
  return messages.reduce<BranchMessage | null>((last, message) => ({ before: last, message: () => message }), before);
}

export interface Ways {
  readonly messages: readonly ImportedMessage[];
  /** Each is read when it is asked for, once: there may be very many. */
  readonly branches: Iterable<Branch>;
}

/** `others` are whole, from the first message on; one that adds nothing is left out. */
export function waysOf(main: BranchMessage | null, others: Iterable<BranchMessage | null>): Ways {
  const steps = new Map<BranchMessage, BranchStep>();
  const root: BranchStep = { owner: null, depth: 0, next: null };
  return { messages: walk(root, steps, main, null).added, branches: branchesOf(root, steps, others) };
}

function* branchesOf(
  root: BranchStep,
  steps: Map<BranchMessage, BranchStep>,
  others: Iterable<BranchMessage | null>,
): Generator<Branch> {
  let count = 0;
  for (const other of others) {
    const { from, added } = walk(root, steps, other, count);
    if (added.length === 0) continue;
    count += 1;
    yield { of: from.owner, after: from.depth, messages: added };
  }
}

/** A message of a way, by its text. `owner`: the first branch that has it; null: the conversation itself. */
interface BranchStep {
  readonly owner: number | null;
  readonly depth: number;
  /** Null: nothing follows yet. */
  next: Map<string, BranchStep> | null;
}

/** Goes the way from the last step that is known of it on. `from`: the last that others have as well. */
function walk(
  root: BranchStep,
  steps: Map<BranchMessage, BranchStep>,
  last: BranchMessage | null,
  owner: number | null,
): { readonly from: BranchStep; readonly added: readonly ImportedMessage[] } {
  const ahead: BranchMessage[] = [];
  let at = last;
  for (; at !== null && !steps.has(at); at = at.before) ahead.push(at);
  let step = at === null ? root : steps.get(at)!;
  let from = step;
  const added: ImportedMessage[] = [];
  for (const said of ahead.toReversed()) {
    const message = said.message();
    const known = step.next?.get(message.body);
    const next = known ?? { owner, depth: step.depth + 1, next: null };
    if (known === undefined) {
      step.next ??= new Map();
      step.next.set(message.body, next);
      added.push(message);
    } else from = next;
    steps.set(said, next);
    step = next;
  }
  return { from, added };
}
