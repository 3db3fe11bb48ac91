/**
 * Acts on the threads of an open home that need more than its store: the configuration, files, memory. Used by the command
 * and the gateway, which put the outcome into words.
 */

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ThreadName } from "@palimpsest/core/internal/log";
import { readStored } from "@palimpsest/core/internal/message";
import type { OnCompactionEvent } from "../compaction/events.ts";
import { configuredWriter } from "../compaction/model-summarize.ts";
import { ensureParts, historyFolder, repairParts } from "../compaction/part-files.ts";
import { summarizationForThreads } from "../compaction/summarization.ts";
import { forgetThread } from "../features/memory/source-turns.ts";
import { delegationsOf } from "../features/subagents/delegations.ts";
import { storedNames } from "../features/tool-output/middleware.ts";
import { ToolFailure } from "../features/workspace/tool-failure.ts";
import { fileCopier, threadWorkspace } from "../features/workspace/workspace.ts";
import { threadFolder } from "../home-folders.ts";
import { lightweightModelId } from "../models/resolve.ts";
import type { Leased } from "../stores/leases.ts";
import type { Store } from "../stores/store.ts";
import { type Forked, type Undone, withWriter } from "../thread/acts.ts";
import { type DeletedThread, deleteThread, forkWithFiles } from "../thread/handle.ts";
import { compactThread, type ThreadOutcome } from "../thread/sized-thread.ts";
import { type Committed, commit, type ThreadDeps, type Writer } from "../thread/writer.ts";
import { requestWindow, workspaceQuota } from "./config.ts";
import { noteSummary } from "./cost.ts";
import type { Home } from "./open-home.ts";

interface CompactInHome {
  readonly dryRun: boolean;
  readonly focus?: string | undefined;
  /** In tokens; without it the configured model's. */
  readonly window?: number | undefined;
  readonly signal: AbortSignal;
  readonly on?: OnCompactionEvent;
}

export async function compactInHome(home: Home, threadId: string, options: CompactInHome): Promise<ThreadOutcome> {
  const { dryRun, focus, window, signal, on = () => {} } = options;
  const config = await home.settings();
  const settings = summarizationForThreads(config.summarization);
  const request = { cause: "manual" as const, dryRun, signal, focus };
  return compactThread(home, threadId, request, {
    home: home.directory,
    policy: settings.policy,
    window: requestWindow(config, window),
    writer: configuredWriter(config, settings, { store: home.store, threadId }),
    on(event) {
      const model = lightweightModelId(config, settings.modelName);
      if (event.type === "summary-usage")
        noteSummary(home.directory, { user: home.userId, id: threadId }, { ...event, model });
      on(event);
    },
  });
}

/** Undo and redo, and the part files that follow. The files are a cache: what the record says stands without them. */
export function takeBackInHome(
  home: Home,
  threadId: string,
  act: (writer: Writer) => Promise<Undone>,
  onError: (error: unknown) => void,
): Promise<Leased<Undone>> {
  return withWriter(home, threadId, async (writer) => {
    const undone = await act(writer);
    const head = await home.store.head(threadId);
    const folder = historyFolder(home.directory, { user: home.userId, id: threadId });
    if (head) await ensureParts(folder, home.store, threadId, head.compaction).catch(onError);
    return undone;
  });
}

/** Files have no past: the fork starts with those that are there now. Without a name it gets one that is free. */
export async function forkInHome(
  home: Home,
  parent: string,
  { as, at }: { readonly as?: string | undefined; readonly at: number },
): Promise<Forked | { readonly kind: "workspace-full"; readonly message: string }> {
  const name = as ?? (await freeForkName(home.store, parent, at));
  const copier = fileCopier(home.directory, workspaceQuota(await home.settings()));
  try {
    return await forkWithFiles(home, parent, { as: name, at }, copier);
  } catch (error) {
    if (error instanceof ToolFailure) return { kind: "workspace-full", message: error.message };
    throw error;
  }
}

/** `T-fork-7`, numbered if taken; a fork of `T-fork-7` is named after T as well, so that names don't grow with each. */
export async function freeForkName(store: Store, parent: string, at: number): Promise<string> {
  const ending = parent.search(/-fork-\d/);
  const family = ending > 0 ? parent.slice(0, ending) : parent;
  for (let count = 1; ; count += 1) {
    // Room for the ending, whatever the parent's length.
    const name = `${family.slice(0, 100)}-fork-${at}${count === 1 ? "" : `-${count}`}`;
    if ((await store.header(name)) === undefined) return name;
  }
}

/** A title has 1 to 200 characters on one line; null: this is none. */
export function titleFrom(text: string): string | null {
  const title = text.replaceAll(/\s+/g, " ").trim();
  return title === "" || title.length > MOST_TITLE ? null : title;
}

export const MOST_TITLE = 200;

export function renameThread(home: Home, threadId: string, title: string): Promise<Leased<Committed>> {
  return withWriter(home, threadId, (writer) => commit(writer, [{ kind: "state", patch: { title } }]));
}

/** With its files, its sub-agents' threads, and what names it in memory. */
export async function deleteInHome(home: Home, threadId: string): Promise<DeletedThread> {
  const deleted = await deleteThreadWithFiles(home, home.directory, threadId);
  const { repository } = await home.eraseDeps();
  if (deleted.kind === "deleted" && repository !== null) await forgetThread(repository, home.userId, threadId);
  return deleted;
}

/* A thread's files beside its log. Cleaning and deleting can be repeated after a crash and then finish what was begun. */

/** Part files as the log has them now, and no stored output or answer of which the log no longer says anything. */
export async function cleanThreadFiles(base: string, store: Store, threadId: string): Promise<void> {
  const head = await store.head(threadId);
  if (head === undefined) return;
  const { history, "tool-outputs": outputs } = threadWorkspace(base, { user: store.userId, id: threadId }).roots;
  await repairParts(history.directory, store, threadId, head.compaction);
  const present = await readdir(outputs.directory).catch((): string[] => []);
  if (present.length === 0) return;
  const gone = await unspoken(store, threadId, present);
  for (const name of gone) await rm(join(outputs.directory, name), { force: true });
}

/** Names of files whose result was erased. An output is named by the prune that put it there, an answer by its delegation. */
async function unspoken(store: Store, threadId: string, present: readonly string[]): Promise<string[]> {
  const named = new Set<string>();
  const erased = new Set<string>();
  for await (const { record, redacted } of store.records(threadId, { kinds: ["prune", "message"] })) {
    if (record.kind === "prune")
      for (const { replacement } of record.entries) for (const name of storedNames(replacement)) named.add(name);
    if (record.kind !== "message" || !redacted) continue;
    const { shape, message } = readStored(record);
    for (const call of shape.answers(message)) erased.add(call);
  }
  const delegations = delegationsOf((await store.head(threadId))?.state ?? {});
  const answers = delegations.filter(({ id }) => erased.has(id)).map(({ threadId }) => `${threadId}.md`);
  const outputs = present.filter((name) => storedNames(`tool-outputs/${name}`).length > 0);
  return [...outputs.filter((name) => !named.has(name)), ...present.filter((name) => answers.includes(name))];
}

/** As `deleteThread`, with the thread's folder. */
export function deleteThreadWithFiles(deps: ThreadDeps, base: string, threadId: string): Promise<DeletedThread> {
  const remove = (name: ThreadName) => rm(threadFolder(base, name), { recursive: true, force: true });
  return deleteThread(deps, threadId, { remove });
}
