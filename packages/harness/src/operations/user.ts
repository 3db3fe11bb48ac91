/** Everything that belongs to the user, to take along or to have deleted. An admin does it for somebody by naming them. */
import { emptyDocument } from "@palimpsest/core/internal/memory";
import { z } from "zod";
import type { MemoryScope, Repository } from "../features/memory/repository.ts";
import { eraseMemoryFiles, everyMemoryFile, userMemoryFiles } from "../features/memory-tool/create-memory-tool.ts";
import { deleteInHome } from "../home/home-acts.ts";
import type { Home } from "../home/open-home.ts";
import { jsonPieces } from "../long-work.ts";
import { everyThread } from "../stores/driver-rules.ts";
import { exportedFiles } from "./files.ts";
import { type ListedKey, listKeys } from "./keys.ts";
import { invalid, list, longOperation, operation, SentPieces } from "./operation.ts";
import { threadRow } from "./threads.ts";

export const exportUser = longOperation({
  name: "user-export",
  summary:
    "Everything of the user's as JSON lines: threads with their records and files, memory with its history and files, what is known of their keys",
  method: "GET",
  path: "/api/user/export",
  media: "application/jsonl",
  input: z.strictObject({}),
  output: z.string(),
  run: async (home) => new SentPieces(everything(home), "application/jsonl"),
});

export const deleteUser = operation({
  name: "user-delete",
  summary:
    "Delete everything of the user's for good: threads, files, memory; and end their keys. The name is asked for, to be sure.",
  method: "DELETE",
  path: "/api/user",
  input: z.strictObject({ user: z.string().describe("The user whose everything is deleted.") }),
  output: z.strictObject({
    user: z.string(),
    deleted: z.int().describe("Threads."),
    kept: list(z.string()).describe("Threads that were being written to."),
    memories: z.int(),
    keys: z.int().describe("Keys that were ended; they stay listed, so that nobody comes in without one."),
  }),
  async run(home, { user }, { forget, assertEnds }) {
    if (user !== home.userId) throw invalid("user", `this would delete everything of ${JSON.stringify(home.userId)}`);
    for (const { role, revokedAt } of await keysOf(home)) if (revokedAt === null) assertEnds?.(role);
    const { deleted, kept } = await deleteThreads(home);
    const repository = await home.memory(home.store);
    let memories = 0;
    for (const scope of await scopesOf(repository, home.userId)) if (await emptied(repository, scope)) memories += 1;
    await eraseMemoryFiles(userMemoryFiles(home.directory, home.userId));
    forget?.(home.userId);
    return { user: home.userId, deleted, kept, memories, keys: await endKeys(home) };
  },
});

/** Last, so that the caller can ask again if something failed before. */
async function endKeys(home: Home): Promise<number> {
  const { keys } = home.store;
  const own = await keysOf(home);
  const now = home.clock().toISOString();
  let ended = 0;
  for (const { id, revokedAt } of own)
    if (revokedAt === null && (await keys?.revoke(id, now)) === "revoked") ended += 1;
  return ended;
}

async function keysOf({ store: { keys }, userId }: Home): Promise<readonly ListedKey[]> {
  return keys === undefined ? [] : (await listKeys(keys)).filter((key) => key.user === userId);
}

async function* everything(home: Home): AsyncGenerator<string> {
  yield* line({ kind: "user", user: home.userId, at: home.clock().toISOString() });
  for await (const summary of everyThread(home.store)) {
    const { id } = summary.header;
    yield* line({ kind: "thread", thread: threadRow(summary) });
    for await (const { record } of home.store.records(id)) yield* line({ kind: "record", thread: id, record });
    for await (const piece of exportedFiles(home, id)) yield* line(piece);
  }
  const repository = await home.memory(home.store);
  for (const scope of await scopesOf(repository, home.userId))
    yield* line({ kind: "memory", agent: scope.agentName, document: await repository.read(scope) });
  for await (const file of everyMemoryFile(userMemoryFiles(home.directory, home.userId)))
    yield* line({ kind: "memory-file", ...file });
  for (const key of await keysOf(home)) yield* line({ kind: "key", key });
}

function* line(value: object): Generator<string> {
  yield* jsonPieces(value);
  yield "\n";
}

/** A sub-agent's thread goes with its parent's, or by itself where that is gone already. */
async function deleteThreads(home: Home): Promise<{ readonly deleted: number; readonly kept: readonly string[] }> {
  const ids: string[] = [];
  for await (const { header } of everyThread(home.store)) ids.push(header.id);
  const kept: string[] = [];
  for (const id of ids) if ((await deleteInHome(home, id)).kind === "busy") kept.push(id);
  return { deleted: ids.length - kept.length, kept };
}

async function scopesOf({ storage }: Repository, userId: string): Promise<readonly MemoryScope[]> {
  return (await storage.scopes?.(userId)) ?? [{ userId, agentName: null }];
}

/** Nothing of it is left, its history and copies that were set aside included; false: there was nothing. */
async function emptied(repository: Repository, scope: MemoryScope): Promise<boolean> {
  const before = await repository.storage.reload(scope);
  if (before === null) return false;
  const texts = [...before.facts.map(({ content }) => content), ...Object.values(before.userContext)];
  const history = Object.values(before.history);
  const also = ({ revision }: { readonly revision?: number }) => ({
    ...emptyDocument(),
    ...(revision !== undefined && { revision }),
  });
  await repository.change(scope, () => ({ changes: [], also }), "manual");
  await repository.storage.forgetCopies?.(
    scope,
    [...texts, ...history].filter((text) => text !== ""),
  );
  return true;
}
