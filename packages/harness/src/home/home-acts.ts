/**
 * Acts on the threads of an open home that need more of it than its store: its configuration, its files, its memory. For
 * the command and the gateway alike; each says what came of it, and whoever asked finds the words.
 */
import { configuredWriter } from "../compaction/configured-writer.ts";
import type { OnCompactionEvent } from "../compaction/events.ts";
import { ensureParts, historyFolder } from "../compaction/part-files.ts";
import { summarizationForThreads } from "../compaction/summarization.ts";
import { forgetThread } from "../memory/source-turns.ts";
import { lightweightModelId } from "../models/resolve-model.ts";
import type { Leased } from "../stores/leases.ts";
import type { Store } from "../stores/store.ts";
import { type Forked, type Undone, withWriter } from "../thread/acts.ts";
import { compactThread, type ThreadOutcome } from "../thread/compact-thread.ts";
import type { DeletedThread } from "../thread/delete.ts";
import { forkWithFiles } from "../thread/fork-files.ts";
import { type Committed, commit, type Writer } from "../thread/writer.ts";
import { fileCopier } from "../workspace/file-copier.ts";
import { ToolFailure } from "../workspace/tool-failure.ts";
import { noteSummary } from "./charges.ts";
import type { Home } from "./open-home.ts";
import { requestWindow } from "./request-window.ts";
import { deleteThreadWithFiles } from "./thread-files.ts";
import { workspaceQuota } from "./workspace-quota.ts";

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
  const request = { cause: "manual" as const, dryRun, signal, ...(focus !== undefined && { focus }) };
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
