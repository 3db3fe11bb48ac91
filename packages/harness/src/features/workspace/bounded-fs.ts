/**
 * The sandbox's file system with the thread's quota and protected names: every write asks for room first, and none goes to
 * a protected file. What was removed meanwhile counts
 * only when the room seems used up; then what is there is measured again.
 */
import { posix } from "node:path";
import { ReadWriteFs, type ReadWriteFsOptions } from "just-bash";
import type { RootName } from "./inside.ts";
import { noRoom, protectedFailure, protectedIn, quotaOf, usedBy } from "./inside.ts";
import type { Quota, Workspace } from "./workspace.ts";

/** The room that is left, for all folders of one workspace. */
export class Room {
  readonly #workspace: Workspace;
  #used: Quota = { bytes: 0, entries: 0 };

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Others may have written since the last command. */
  async measure(): Promise<void> {
    if (quotaOf(this.#workspace) !== null) this.#used = await usedBy(this.#workspace);
  }

  async claim(more: Quota): Promise<void> {
    const quota = quotaOf(this.#workspace);
    if (quota === null) return;
    if (!this.#fits(quota, more)) await this.measure();
    if (!this.#fits(quota, more)) throw noRoom(quota);
    this.#used = { bytes: this.#used.bytes + more.bytes, entries: this.#used.entries + more.entries };
  }

  #fits(quota: Quota, more: Quota): boolean {
    return this.#used.bytes + more.bytes <= quota.bytes && this.#used.entries + more.entries <= quota.entries;
  }
}

type FileContent = Parameters<ReadWriteFs["writeFile"]>[1];

export interface FileBounds {
  readonly name: RootName;
  readonly protect: readonly string[];
  readonly room: Room;
  /** Told of each write to a protected file, and of each pipe: some commands keep a failure to themselves, or give it a reason of their own. */
  readonly onRefusal: (sentence: string) => void;
}

export class BoundedFs extends ReadWriteFs {
  readonly #bounds: FileBounds;
  readonly #room: Room;

  constructor(options: ReadWriteFsOptions, bounds: FileBounds) {
    super(options);
    this.#bounds = bounds;
    this.#room = bounds.room;
  }

  override async readFile(...args: Parameters<ReadWriteFs["readFile"]>): Promise<string> {
    await this.#sizeOf(args[0]);
    return super.readFile(...args);
  }

  override async readFileBytes(...args: Parameters<ReadWriteFs["readFileBytes"]>) {
    await this.#sizeOf(args[0]);
    return super.readFileBytes(...args);
  }

  override async readFileBuffer(...args: Parameters<ReadWriteFs["readFileBuffer"]>): Promise<Uint8Array> {
    await this.#sizeOf(args[0]);
    return super.readFileBuffer(...args);
  }

  override async writeFile(...args: Parameters<ReadWriteFs["writeFile"]>): Promise<void> {
    const [path, content] = args;
    this.#assertOpen(path);
    const before = await this.#sizeOf(path);
    await this.#room.claim({ bytes: sizeOf(content) - (before ?? 0), entries: before === null ? 1 : 0 });
    await super.writeFile(...args);
  }

  override async appendFile(...args: Parameters<ReadWriteFs["appendFile"]>): Promise<void> {
    const [path, content] = args;
    this.#assertOpen(path);
    const entries = (await this.#sizeOf(path)) === null ? 1 : 0;
    await this.#room.claim({ bytes: sizeOf(content), entries });
    await super.appendFile(...args);
  }

  override async mkdir(...args: Parameters<ReadWriteFs["mkdir"]>): Promise<void> {
    this.#assertOpen(args[0]);
    await this.#room.claim({ bytes: 0, entries: 1 });
    await super.mkdir(...args);
  }

  override async cp(...args: Parameters<ReadWriteFs["cp"]>): Promise<void> {
    this.#assertOpen(args[1]);
    await this.#assertOpenBelow(args[0]);
    await this.#room.claim(await this.#treeAt(args[0]));
    await super.cp(...args);
  }

  override async mv(...args: Parameters<ReadWriteFs["mv"]>): Promise<void> {
    this.#assertOpen(args[0]);
    this.#assertOpen(args[1]);
    await this.#assertOpenBelow(args[0]);
    await super.mv(...args);
  }

  override async rm(...args: Parameters<ReadWriteFs["rm"]>): Promise<void> {
    this.#assertOpen(args[0]);
    await this.#assertOpenBelow(args[0]);
    await super.rm(...args);
  }

  override async chmod(...args: Parameters<ReadWriteFs["chmod"]>): Promise<void> {
    this.#assertOpen(args[0]);
    await super.chmod(...args);
  }

  override async utimes(...args: Parameters<ReadWriteFs["utimes"]>): Promise<void> {
    this.#assertOpen(args[0]);
    await super.utimes(...args);
  }

  override async link(...args: Parameters<ReadWriteFs["link"]>): Promise<void> {
    this.#assertOpen(args[1]);
    await this.#room.claim({ bytes: 0, entries: 1 });
    await super.link(...args);
  }

  #assertOpen(path: string): void {
    const segments = posix.normalize(`/${path}`).split("/").filter(Boolean);
    const name = protectedIn(this.#bounds.protect, segments);
    if (name === null) return;
    const failure = protectedFailure({ root: this.#bounds.name, segments }, name);
    this.#bounds.onRefusal(failure.message);
    throw failure;
  }

  /** A folder is moved, copied and removed with what it holds. */
  async #assertOpenBelow(path: string): Promise<void> {
    const { protect } = this.#bounds;
    if (protect.length === 0) return;
    const stats = await this.lstat(path).catch(() => null);
    if (stats?.isDirectory !== true) return;
    for (const name of await this.readdir(path)) {
      const inner = `${path}/${name}`;
      if (protectedIn(protect, [name]) !== null) this.#assertOpen(inner);
      await this.#assertOpenBelow(inner);
    }
  }

  /** Null: nothing is there. */
  async #sizeOf(path: string): Promise<number | null> {
    return (await this.#statsOf(path))?.size ?? null;
  }

  /** Refuses pipes and devices: opening one may block without end, and a thread that is blocked so can't be ended. */
  async #statsOf(path: string) {
    const stats = await this.lstat(path).catch(() => null);
    if (stats === null || stats.isFile || stats.isDirectory || stats.isSymbolicLink) return stats;
    const sentence = `${posix.basename(path)} is not a regular file`;
    this.#bounds.onRefusal(sentence);
    throw new Error(`EINVAL: ${sentence}`);
  }

  async #treeAt(path: string): Promise<Quota> {
    const stats = await this.#statsOf(path);
    if (stats === null) return { bytes: 0, entries: 0 };
    if (!stats.isDirectory) return { bytes: stats.size, entries: 1 };
    const inside = { bytes: 0, entries: 1 };
    for (const name of await this.readdir(path)) {
      const { bytes, entries } = await this.#treeAt(`${path}/${name}`);
      inside.bytes += bytes;
      inside.entries += entries;
    }
    return inside;
  }
}

function sizeOf(content: FileContent): number {
  return typeof content === "string" ? Buffer.byteLength(content) : content.length;
}
