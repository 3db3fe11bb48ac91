/**
 * Reads and changes documents, whatever keeps them. A change is a pure function of the document: when somebody else saved
 * in between, it is asked again about the newer one, and no model or person is waited for meanwhile [F52]. An agent
 * without a document reads its user's, and its first save makes a copy. What a person corrects in the user's memory holds for
 * prompts of such an agent, too.
 */
import { setTimeout as wait } from "node:timers/promises";
import { applyChanges } from "@palimpsest/core/internal/memory";
import { emptyDocument, type MemoryDocument, type NewChange, type Stamp } from "@palimpsest/core/memory";
import { checkScope, type MemoryScope, type ScopeName } from "./scope.ts";
import { type MemoryStorage, MemoryStorageError } from "./storage.ts";

/** What to do with a document; null: nothing after all. */
export interface Edit {
  readonly changes: readonly NewChange[];
  /** What else the save carries, such as a watermark. */
  readonly also?: (document: MemoryDocument) => MemoryDocument;
}

export interface Changed {
  readonly document: MemoryDocument;
  readonly saved: boolean;
}

export interface Repository {
  readonly storage: MemoryStorage;
  read(scope: ScopeName): Promise<MemoryDocument>;
  /** What a prompt is made from: as `read`, with the corrections of the document that it was copied from. Never saved. */
  view(scope: ScopeName): Promise<MemoryDocument>;
  change(scope: ScopeName, edit: (document: MemoryDocument) => Edit | null, by: Stamp["by"]): Promise<Changed>;
}

export function openRepository(storage: MemoryStorage, clock: () => Date): Repository {
  const read = async (scope: MemoryScope, how: "load" | "reload"): Promise<MemoryDocument> => {
    const own = await storage[how](scope);
    if (own !== null) return own;
    const global = scope.agentName === null ? null : await storage[how]({ ...scope, agentName: null });
    return global === null ? emptyDocument() : copyOf(global);
  };
  return {
    storage,
    read: async (scope) => read(checked(scope), "load"),
    async view(target) {
      const scope = checked(target);
      const own = await storage.load(scope);
      const isCopy = own === null || own.copiedFrom !== undefined;
      const global = scope.agentName === null || !isCopy ? null : await storage.load({ ...scope, agentName: null });
      if (own === null) return global ?? emptyDocument();
      return global === null ? own : withCorrections(own, global);
    },
    async change(target, edit, by) {
      const scope = checked(target);
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const document = await read(scope, attempt === 0 ? "load" : "reload");
        const made = edit(document);
        if (made === null) return { document, saved: false };
        const changed = applyChanges(document, made.changes, { at: clock().toISOString(), by });
        const next = made.also?.(changed) ?? changed;
        const expectRevision = document.revision ?? 0;
        const result = await storage.save(next, { scope, expectRevision });
        if (result.kind === "saved") return { document: next, saved: true };
        await wait(Math.random() * Math.min(200, 2 ** attempt));
      }
      throw new MemoryStorageError(
        "locked",
        `${storage.place(scope)} was changed by others ${ATTEMPTS} times in a row: try again.`,
      );
    },
  };
}

/** A scope is always spelled the same way. */
function checked({ userId, agentName }: ScopeName): MemoryScope {
  const check = checkScope(userId, agentName);
  if (check.kind === "invalid") throw new TypeError(check.problem);
  return check.scope;
}

const ATTEMPTS = 100;

/** Facts and fences come along; the audit and the watermarks are the other document's own. The same copy each time. */
function copyOf(document: MemoryDocument): MemoryDocument {
  const { changes, watermarks, marks, revision, ...rest } = document;
  const copy = copies.get(document) ?? { ...rest, copiedFrom: "global" };
  copies.set(document, copy);
  return copy;
}

/** The audit of both, in order of time. The same view each time, as facts are indexed once for each document. */
function withCorrections(own: MemoryDocument, global: MemoryDocument): MemoryDocument {
  const known = views.get(own);
  if (known?.global === global) return known.view;
  const changes = [...(global.changes ?? []), ...(own.changes ?? [])].sort((a, b) => (a.at < b.at ? -1 : 1));
  const view = { ...own, changes };
  views.set(own, { global, view });
  return view;
}

const views = new WeakMap<MemoryDocument, { readonly global: MemoryDocument; readonly view: MemoryDocument }>();
const copies = new WeakMap<MemoryDocument, MemoryDocument>();
