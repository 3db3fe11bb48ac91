/**
 * A storage of the user's own: any class with `load`, `reload` and `save`, which need know nothing of revisions. It is
 * compared and set here, one save at a time in this process; between processes it is as safe as its author made it.
 */
import { type MemoryDocument, readDocument } from "@palimpsest/core/memory";
import { inTurn } from "./file-lock.ts";
import type { MemoryScope } from "./scope.ts";
import { type MemoryStorage, MemoryStorageError, scopeKey } from "./storage.ts";

/** What is asked of it. `agentName` is null for the user's own memory. */
export interface CustomStorage {
  load(agentName: string | null, options: { readonly user: string }): unknown;
  reload(agentName: string | null, options: { readonly user: string }): unknown;
  save(
    document: MemoryDocument,
    agentName: string | null,
    options: { readonly user: string; readonly expectRevision: number },
  ): unknown;
}

export function isCustomStorage(value: unknown): value is CustomStorage {
  if (typeof value !== "object" || value === null) return false;
  const fields = value as Record<string, unknown>;
  return ["load", "reload", "save"].every((name) => typeof fields[name] === "function");
}

export function customStorage(own: CustomStorage, name: string): MemoryStorage {
  const place = (scope: MemoryScope): string => `${name}:${scopeKey(scope)}`;
  const read = async (how: "load" | "reload", { userId, agentName }: MemoryScope): Promise<MemoryDocument | null> => {
    const value = await own[how](agentName, { user: userId });
    if (value === null || value === undefined) return null;
    const parsed = readDocument(value);
    if (parsed.kind === "document") return parsed.document;
    throw new MemoryStorageError(
      "corrupt",
      `${place({ userId, agentName })} gave no memory document: ${parsed.reason}.`,
    );
  };
  return {
    place,
    load: (scope) => read("load", scope),
    reload: (scope) => read("reload", scope),
    save: (document, { scope, expectRevision }) =>
      inTurn(place(scope), async () => {
        const now = await read("reload", scope);
        if ((now?.revision ?? 0) !== expectRevision) return { kind: "conflict" };
        const { userId, agentName } = scope;
        const answer = await own.save(document, agentName, { user: userId, expectRevision });
        if (answer === false)
          throw new MemoryStorageError("unwritable", `${place(scope)} refused to save: see its own log.`);
        return { kind: isConflict(answer) ? "conflict" : "saved" };
      }),
  };
}

function isConflict(value: unknown): boolean {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "conflict";
}
