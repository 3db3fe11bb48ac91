/** The chat's commands on the thread's files: list them, and copy one in. */

import { constants } from "node:fs";
import { chmod, copyFile, readdir, stat } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { errorCode } from "@palimpsest/core/internal/text";
import { prepareWorkspace, threadWorkspace } from "palimpsest/home";
import { VIRTUAL_ROOT } from "palimpsest/internal/workspace";
import { grouped, printable } from "../terminal/output.ts";
import type { ChatSession } from "./session.ts";

export async function files({ context, screen, threadId }: ChatSession): Promise<void> {
  const { roots } = threadWorkspace(context.home, { user: context.userId, id: threadId });
  let count = 0;
  for (const name of ["workspace", "uploads", "outputs"] as const) {
    const entries = await readdir(roots[name].directory, { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries.filter((one) => one.isFile()).slice(0, MOST_SHOWN)) {
      const path = join(entry.parentPath, entry.name);
      const { size } = await stat(path).catch(() => ({ size: 0 }));
      const inside = path.slice(roots[name].directory.length + 1);
      await screen.line(`  ${printable(`${VIRTUAL_ROOT}/${name}/${inside}`)}  ${grouped(size)} B`);
      count += 1;
    }
  }
  if (count === 0) await screen.aside("No files yet: /upload PATH brings one in, and the agent can write its own.");
}

const MOST_SHOWN = 100;

export async function upload(
  session: ChatSession,
  argument: string,
  message: "your next" | "this" = "your next",
): Promise<void> {
  const { context, screen, threadId } = session;
  const source = resolve(argument.replace(/^(["'])(.*)\1$/, "$2"));
  if (argument === "") return screen.aside("Say which file: /upload PATH");
  const stats = await stat(source).catch(() => null);
  if (stats === null) return screen.aside(`There is no file ${source}.`);
  if (!stats.isFile()) return screen.aside(`${source} is no file.`);
  const workspace = threadWorkspace(context.home, { user: context.userId, id: threadId });
  await prepareWorkspace(workspace);
  const name = await copyIn(source, workspace.roots.uploads.directory);
  const path = `${VIRTUAL_ROOT}/uploads/${name}`;
  session.uploaded.push(path);
  await screen.aside(`Copied to ${printable(path)}; ${message} message says so.`);
}

/** Gives the agent copies of the files that a message mentions; what is no file is only text. */
export async function attachMentioned(session: ChatSession, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const stats = await stat(resolve(path)).catch(() => null);
    if (stats?.isFile() === true) await upload(session, path, "this");
    else if (stats === null && LIKE_A_PATH.test(path))
      await session.screen.aside(`There is no file ${printable(path)} here: the message is said without one.`);
  }
}

/** A name of a person or a package isn't. */
const LIKE_A_PATH = /^\.{0,2}\/|\.[a-z0-9]{1,5}$/i;

/** Never over a file that is there already. */
async function copyIn(source: string, directory: string): Promise<string> {
  const whole = basename(source);
  const end = extname(whole);
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? whole : `${whole.slice(0, whole.length - end.length)}-${count}${end}`;
    try {
      await copyFile(source, join(directory, name), constants.COPYFILE_EXCL);
      await chmod(join(directory, name), 0o600);
      return name;
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
  }
}
