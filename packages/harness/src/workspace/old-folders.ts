/**
 * Threads' folders of the time when a thread was named by its id alone, all in `threads/{thread}`, of all users: each
 * is moved once to where its user's are now. A mark in `threads` says that it was done, because from then on a
 * folder there is the default user's.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DEFAULT_USER, type ThreadName } from "@palimpsest/core/log";
import { threadFolder } from "../home-folders.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../private-files.ts";
import type { Store } from "../stores/store.ts";
import { asUser, everyThread, everyUser } from "../stores/users.ts";

const MARK = ".by-user";

export async function adoptOldFolders(home: string, store: Store): Promise<void> {
  const threads = join(home, "threads");
  if (existsSync(join(threads, MARK))) return;
  // By their exact names: a disk that folds case would answer for another one.
  const old = new Set(await readdir(threads).catch(() => [] as string[]));
  if (old.size > 0) {
    for await (const own of everyUser(store))
      for await (const { header } of everyThread(own))
        if (old.has(header.id) && (await isOwner(store, header))) await move(home, header);
  }
  await mkdir(threads, { recursive: true, mode: PRIVATE_FOLDER });
  await writeFile(join(threads, MARK), "", { mode: PRIVATE_FILE });
}

/** Where the default user has a thread of that id, the folder is theirs. */
async function isOwner(store: Store, { user, id }: ThreadName): Promise<boolean> {
  return user === DEFAULT_USER || (await asUser(store, DEFAULT_USER).header(id)) === undefined;
}

async function move(home: string, thread: ThreadName): Promise<void> {
  const [from, to] = [join(home, "threads", thread.id), threadFolder(home, thread)];
  if (from === to || existsSync(to)) return;
  await mkdir(dirname(to), { recursive: true, mode: PRIVATE_FOLDER });
  await rename(from, to).catch((error: NodeJS.ErrnoException) => {
    // Another process was quicker.
    if (error.code !== "ENOENT") throw error;
  });
}
