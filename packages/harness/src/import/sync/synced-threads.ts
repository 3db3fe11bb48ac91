/**
 * The threads of one file while it is read: each is compared with what the store has of it, and what is new is appended. A
 * thread that the file contradicts is named with where it does, so that the file can be read again into a fork.
 */
import type { Dialect } from "@palimpsest/core/internal/message";
import { fork, withWriter } from "../../thread/acts.ts";
import { threadState } from "../../thread/thread-view.ts";
import type { TitleLimits } from "../../thread/title.ts";
import { commit, createThread, type RecordInput, type ThreadDeps } from "../../thread/writer.ts";
import type { Format } from "../formats/format.ts";
import type { ImportedThread, ImportPiece } from "../piece.ts";
import { NOTHING_STORED, type Stored, ThreadDraft } from "../thread-draft.ts";
import type { FileFacts } from "./sync-file.ts";
import { sessionThread, threadNames } from "./thread-names.ts";

export interface SyncOptions {
  readonly deps: ThreadDeps;
  /** Null: each file says what it is. */
  readonly format: Format | null;
  /** How threads are named by their first words; null: not at all. */
  readonly title: TitleLimits | null;
  /** Whether memory may learn from what the user says. */
  readonly memory: "learn" | "skip";
  readonly signal?: AbortSignal;
}

/** Where a thread goes on whose file was rewritten: a fork of another one. */
export interface Detour {
  readonly threadId: string;
  readonly of: string;
  readonly at: number;
  /** From which record on the thread's own messages begin. */
  readonly ownFrom: number;
  readonly stored: Stored;
  readonly turn: number;
}

export interface SyncedThreads {
  /** A promise where something has to be read first. */
  add(piece: ImportPiece, read: { readonly format: Format | null; readonly dialect: Dialect }): Promise<void> | null;
  makeRoom(): Promise<void>;
  finish(isSettled: boolean): Promise<{
    readonly kind: "synced" | "busy";
    readonly messages: number;
    readonly threads: readonly string[];
    readonly diverged: ReadonlyMap<string, Detour>;
  }>;
}

interface Open {
  readonly opened: ImportedThread;
  readonly base: string;
  readonly threadId: string;
  readonly draft: ThreadDraft;
  readonly ownFrom: number;
  readonly stored: Stored;
  readonly detour: Detour | undefined;
  isThere: boolean;
  hasTitle: boolean;
}

export function syncedThreads(
  file: FileFacts,
  options: SyncOptions,
  detours: ReadonlyMap<string, Detour>,
): SyncedThreads {
  return new Threads(file, options, detours);
}

/** Characters of messages that may wait: more is written before the file has ended. */
const WAITING = 16 * 1024 * 1024;

class Threads implements SyncedThreads {
  readonly #file: FileFacts;
  readonly #options: SyncOptions;
  readonly #detours: ReadonlyMap<string, Detour>;
  readonly #open = new Map<string, Open>();
  readonly #changed = new Set<string>();
  #names: ((opened: ImportedThread) => string) | null = null;
  #isBusy = false;
  #messages = 0;

  constructor(file: FileFacts, options: SyncOptions, detours: ReadonlyMap<string, Detour>) {
    this.#file = file;
    this.#options = options;
    this.#detours = detours;
  }

  add(piece: ImportPiece, read: { readonly format: Format | null; readonly dialect: Dialect }): Promise<void> | null {
    if (piece.kind === "thread") return this.#begin(piece, read);
    if ("key" in piece && piece.kind !== "end") this.#open.get(piece.key)!.draft.add(piece);
    return null;
  }

  async makeRoom(): Promise<void> {
    const waiting = [...this.#open.values()].reduce((sum, { draft }) => sum + draft.length, 0);
    if (waiting > WAITING) await this.#writeAll();
  }

  async finish(isSettled: boolean) {
    if (isSettled) for (const { draft } of this.#open.values()) draft.end();
    await this.#writeAll();
    const diverged = new Map<string, Detour>();
    for (const [key, open] of this.#open) {
      const detour = this.#isBusy ? null : detourFrom(open);
      if (detour !== null) diverged.set(key, detour);
    }
    // Of a file that may go on, something may have been held back.
    if (isSettled && !this.#isBusy && diverged.size === 0) await this.#position();
    return {
      kind: this.#isBusy ? ("busy" as const) : ("synced" as const),
      messages: this.#messages,
      threads: [...this.#changed],
      diverged,
    };
  }

  async #begin(
    opened: ImportedThread,
    { format, dialect }: { readonly format: Format | null; readonly dialect: Dialect },
  ): Promise<void> {
    this.#names ??= threadNames(this.#file.name, format);
    const base = this.#names(opened);
    const detour = this.#detours.get(opened.key);
    const threadId = detour?.threadId ?? base;
    const { deps } = this.#options;
    const header = await deps.store.header(threadId);
    const ownFrom = detour?.ownFrom ?? header?.forkedAt ?? 0;
    const before = header === undefined ? null : await storedIn(deps, threadId, ownFrom);
    const stored = before?.stored ?? detour?.stored ?? NOTHING_STORED;
    const parent = opened.fork === null ? undefined : this.#open.get(opened.fork.of)?.draft;
    const { ids, hash } = deps;
    const draft = new ThreadDraft(opened, { dialect, ids, hash, stored, parent });
    this.#open.set(opened.key, {
      opened,
      base,
      threadId,
      draft,
      ownFrom,
      stored,
      detour,
      isThere: before !== null,
      hasTitle: before?.hasTitle ?? false,
    });
  }

  /** Parents first: a fork needs what it shares. */
  async #writeAll(): Promise<void> {
    for (const open of this.#open.values()) if (!this.#isBusy) await this.#write(open);
  }

  async #write(open: Open): Promise<void> {
    const { draft, opened } = open;
    const parent = opened.fork === null ? undefined : this.#open.get(opened.fork.of);
    if (parent !== undefined && parent.draft.divergence !== null) return;
    if (!open.isThere && draft.length > 0 && !(await this.#make(open, parent))) return;
    const inputs = [...draft.takeRecords()];
    if (inputs.length === 0) return;
    const said = inputs.filter(({ kind }) => kind === "message").length;
    const title = open.hasTitle ? "" : draft.title(this.#options.title);
    const state = { source: this.#sourceOf(open), ...(title !== "" && { title }) };
    inputs.push({ kind: "state", patch: state });
    draft.passRecords(1);
    if (!(await this.#append(open, inputs))) return;
    open.hasTitle ||= title !== "";
    this.#messages += said;
    this.#changed.add(open.threadId);
  }

  /** The thread, empty, or as a fork of the one it leaves. */
  async #make(open: Open, parent: Open | undefined): Promise<boolean> {
    const { deps, memory } = this.#options;
    const { opened, threadId, detour, draft } = open;
    const from = detour ?? (parent && { of: parent.threadId, at: parent.draft.seqAfter(opened.fork!.after) });
    const learn = memory === "learn" ? { memory } : {};
    const receipt = { type: "imported", file: this.#file.name, program: opened.source?.program ?? null, ...learn };
    if (from === undefined) {
      const header = { id: threadId, ...this.#kinship(opened) };
      const first: readonly RecordInput[] = [{ kind: "event", event: receipt }];
      await createThread(deps, header, first);
    } else {
      const source = { ...this.#sourceOf(open), pieces: open.stored.pieces };
      const forked = await fork(deps, from.of, { as: threadId, at: from.at, state: { source, title: null } });
      this.#isBusy ||= forked.kind === "missing" || forked.kind === "beyond-end";
    }
    const head = await deps.store.head(threadId);
    open.isThere = true;
    if (head === undefined) this.#isBusy = true;
    else draft.standAt(head.version);
    return !this.#isBusy;
  }

  #kinship({ childOf, source }: ImportedThread) {
    const parent =
      childOf !== null
        ? this.#open.get(childOf)?.threadId
        : source?.parent
          ? sessionThread(source.program, source.parent)
          : undefined;
    return parent === undefined ? {} : { kind: "subagent" as const, parent };
  }

  #sourceOf({ opened, draft }: Open) {
    const { program = null, session = null, project = null } = opened.source ?? {};
    return { program, project, session, file: this.#file.name, pieces: draft.pieces };
  }

  /** All of the file was read: its first thread says so. */
  async #position(): Promise<void> {
    const [first] = this.#open.values();
    const head = first && (await this.#options.deps.store.head(first.base));
    if (first === undefined || head === undefined) return;
    const { size, modified } = this.#file;
    const before = threadState(head).source ?? {};
    if (before.size === size && before.modified === modified) return;
    const source = { ...before, size, modified };
    await this.#commit(first.base, head.version, [{ kind: "state", patch: { source } }]);
  }

  async #append(open: Open, inputs: readonly RecordInput[]): Promise<boolean> {
    return this.#commit(open.threadId, open.draft.base - inputs.length, inputs);
  }

  /** Only if the thread still stands where it was read: else the next run sees what happened. */
  async #commit(threadId: string, version: number, inputs: readonly RecordInput[]): Promise<boolean> {
    const { deps } = this.#options;
    const result = await withWriter(
      deps,
      threadId,
      async (writer) => {
        const head = await deps.store.head(threadId);
        return head?.version === version ? commit(writer, inputs, { head, structure: [] }) : null;
      },
      // The same owner when run again: one that was killed doesn't keep itself out.
      { owner: "sync" },
    );
    const isWritten = result.kind === "done" && result.value?.kind === "committed";
    this.#isBusy ||= !isWritten;
    return isWritten;
  }
}

/** What the store has of a thread: its own messages by hash, and how far its file was read. */
async function storedIn(
  { store }: ThreadDeps,
  threadId: string,
  ownFrom: number,
): Promise<{ readonly stored: Stored; readonly hasTitle: boolean } | null> {
  const head = await store.head(threadId);
  if (head === undefined) return null;
  const source = threadState(head).source ?? {};
  const [seqs, hashes]: [number[], string[]] = [[], []];
  for await (const { chained } of store.records(threadId, { kinds: ["message"], bodies: "none" })) {
    if (chained.seq <= ownFrom) continue;
    seqs.push(chained.seq);
    hashes.push(chained.bodyHash ?? "");
  }
  const stored = { version: head.version, seqs, hashes, pieces: source.pieces ?? 0 };
  return { stored, hasTitle: threadState(head).title !== undefined };
}

/** The next name that the thread could go on under, from where its file says something else. */
function detourFrom({ draft, base, threadId, ownFrom, stored, detour }: Open): Detour | null {
  const { divergence } = draft;
  if (divergence === null) return null;
  const turn = (detour?.turn ?? 1) + 1;
  const { message, pieces } = divergence;
  const at = stored.seqs[message - 1] ?? ownFrom;
  const kept = {
    seqs: stored.seqs.slice(0, message),
    ...(stored.hashes !== undefined && { hashes: stored.hashes.slice(0, message) }),
  };
  return {
    threadId: `${base}-rewrite-${turn}`,
    of: threadId,
    at,
    ownFrom,
    stored: { version: at, pieces, ...kept },
    turn,
  };
}
