/** Several ways that one conversation went, told apart: what each shares with those before it, and what it adds. */
import type { ImportedMessage } from "../conversation.ts";
import type { Branch } from "./format.ts";

/** `others` are whole, from the first message on; one that adds nothing is left out. */
export function branchesOf(
  main: readonly ImportedMessage[],
  others: readonly (readonly ImportedMessage[])[],
): readonly Branch[] {
  const root: Step = { owner: null, next: new Map() };
  walk(root, main, null);
  const branches: Branch[] = [];
  for (const path of others) {
    const { step, shared } = sharedBy(root, path);
    if (shared === path.length) continue;
    walk(root, path, branches.length);
    branches.push({ of: step.owner, after: shared, messages: path.slice(shared) });
  }
  return branches;
}

/** A message of a path, by its text. `owner`: the first branch that has it; null: the conversation itself. */
interface Step {
  readonly owner: number | null;
  readonly next: Map<string, Step>;
}

function walk(root: Step, path: readonly ImportedMessage[], owner: number | null): void {
  let step = root;
  for (const { body } of path) {
    if (!step.next.has(body)) step.next.set(body, { owner, next: new Map() });
    step = step.next.get(body)!;
  }
}

function sharedBy(root: Step, path: readonly ImportedMessage[]): { readonly step: Step; readonly shared: number } {
  let step = root;
  for (const [index, { body }] of path.entries()) {
    const next = step.next.get(body);
    if (next === undefined) return { step, shared: index };
    step = next;
  }
  return { step, shared: path.length };
}
