/**
 * A user's memory files of the time when users were lower-cased: `Ada`'s lay in `users/ada`. They are moved to where
 * hers are now when they are first asked for, unless there is an `ada`, whose they are then: what the two had in
 * common can't be told apart.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { DEFAULT_USER } from "@palimpsest/core/log";
import { PRIVATE_FOLDER, userFolder } from "../home-folders.ts";

/** What users could be called then. */
const OLD_USER = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export async function adoptOldMemory(
  base: string,
  userId: string,
  isUser: (name: string) => Promise<boolean>,
): Promise<void> {
  const lower = userId.toLowerCase();
  if (!OLD_USER.test(userId) || lower === userId || lower === DEFAULT_USER) return;
  const [users, own] = [join(base, "users"), userFolder(base, userId)];
  if (FILES.some((name) => existsSync(join(own, name)))) return;
  // By its exact name: a disk that folds case would answer for another one.
  const names = await readdir(users).catch(() => [] as string[]);
  const old = [userId, lower].find((name) => names.includes(name));
  if (old === undefined || (old === lower && (await isUser(lower)))) return;
  await mkdir(own, { recursive: true, mode: PRIVATE_FOLDER });
  for (const name of FILES) {
    if (existsSync(join(users, old, name))) await rename(join(users, old, name), join(own, name)).catch(wasQuicker);
  }
}

const FILES = ["memory.json", "agents"];

function wasQuicker(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
