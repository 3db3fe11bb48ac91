/**
 * Reading a log back and holding it against itself: replay as it was said, verify the chain, rebuild the head. Streams
 * all the way: a thread of any length needs the memory of one page.
 */

import type { ChainedRecord, Head, MessageRecord, Verdict } from "@palimpsest/core/internal/log";
import { chainVerifier, headFold, NO_RULES, parseRecord, readRules, rulesInForce } from "@palimpsest/core/internal/log";
import type { ThreadDeps } from "./writer.ts";

/** Every message ever said, in order, as given; undo, prune and compaction change nothing here. */
export async function* replay({ store }: Pick<ThreadDeps, "store">, threadId: string): AsyncGenerator<MessageRecord> {
  for await (const { record } of store.records(threadId, { kinds: ["message"] })) {
    if (record.kind === "message") yield record;
  }
}

export type Verified = Verdict | { readonly kind: "missing" };

export async function verify({ store, hash }: Pick<ThreadDeps, "store" | "hash">, threadId: string): Promise<Verified> {
  const head = await store.head(threadId);
  if (!head) return { kind: "missing" };
  const verifier = chainVerifier(hash);
  const rules = ruleVerifier(hash);
  // What is appended while we read is not part of what we were asked about; one more than the end shows a stray record.
  for await (const { chained } of store.records(threadId)) {
    if (chained.seq > head.version && (await store.head(threadId))!.version > head.version) break;
    verifier.add(chained);
    rules.add(chained);
  }
  const verdict = verifier.finish(head);
  const missing = rules.finish(head);
  if (verdict.kind === "broken" || missing === null) return verdict;
  return { ...verdict, kind: "broken", firstBad: missing };
}

/**
 * Whether every compaction's view showed the rules in force, by the log alone: the hashes it lists are those of the rules
 * that the states before it put in force. A rule whose words were erased since is excused. The head, which the next view
 * is made from, must have the log's rules.
 */
function ruleVerifier(hash: ThreadDeps["hash"]) {
  let rules = NO_RULES;
  let bad: { readonly seq: number; readonly flaw: "missing-rule"; readonly detail: string } | null = null;
  const fault = (seq: number, what: string): void => {
    bad ??= { seq, flaw: "missing-rule", detail: `record ${seq}: ${what}` };
  };
  return {
    add(chained: ChainedRecord): void {
      if (chained.kind !== "state" && chained.kind !== "compaction") return;
      const record = parseRecord(chained);
      if (record.kind === "state" && "rules" in record.patch) rules = readRules(record.patch);
      if (record.kind !== "compaction") return;
      const listed = new Set(record.rules ?? []);
      for (const { id, text } of rulesInForce(rules))
        if (!listed.has(hash(text))) fault(record.seq, `its view lacks rule ${id}, which was in force`);
    },
    finish({ state, version }: Pick<Head, "state" | "version">): typeof bad {
      const [held, known] = [readRules(state), rules].map((one) => rulesInForce(one).map(({ text }) => text));
      const lacks = known?.find((text) => !held?.includes(text));
      if (lacks !== undefined) fault(version, "the head lacks a rule that the log has in force");
      return bad;
    },
  };
}

export type Rebuilt =
  | { readonly kind: "equal"; readonly head: Head }
  | { readonly kind: "different"; readonly stored: Head; readonly folded: Head; readonly fields: readonly string[] }
  | { readonly kind: "missing" | "conflict" };

/** Folds the head from the log and compares; `write` also replaces a stored head that differs. */
export async function rebuildHead(
  { store }: Pick<ThreadDeps, "store">,
  threadId: string,
  onDifference: "report" | "write" = "report",
): Promise<Rebuilt> {
  const [header, stored] = [await store.header(threadId), await store.head(threadId)];
  if (!header || !stored) return { kind: "missing" };
  const fold = headFold(stored.version === 0 ? stored.updatedAt : header.createdAt);
  for await (const { chained } of store.records(threadId)) fold.add(chained);
  const folded = fold.head();
  const fields = differences(stored, folded);
  if (fields.length === 0) return { kind: "equal", head: stored };
  if (onDifference === "write") {
    const written = await store.writeHead(threadId, folded);
    if (written !== "written") return { kind: written };
  }
  return { kind: "different", stored, folded, fields };
}

function differences(a: Head, b: Head): string[] {
  const [first, second] = [new Map(Object.entries(a)), new Map(Object.entries(b))];
  const names = new Set([...first.keys(), ...second.keys()]);
  return [...names].filter((name) => spell(first.get(name)) !== spell(second.get(name)));
}

/** JSON with keys in order: a database may keep them in another one. */
function spell(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
