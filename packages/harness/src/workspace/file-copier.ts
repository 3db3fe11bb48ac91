/** The files of threads in a home, as forking and deleting a thread need them. */
import { readdir, rm } from "node:fs/promises";
import { threadFolder } from "../home-folders.ts";
import type { FileCopier } from "../thread/fork.ts";
import { copyWorkspace } from "./copy-workspace.ts";
import { QUOTA } from "./quota.ts";
import { ROOT_NAMES } from "./virtual-path.ts";
import { type Quota, threadWorkspace } from "./workspace.ts";

export function fileCopier(base: string, quota: Quota | null = QUOTA): FileCopier {
  return {
    async has(thread) {
      const { roots } = threadWorkspace(base, thread);
      for (const name of ROOT_NAMES.filter((root) => root !== "history"))
        if ((await readdir(roots[name].directory).catch(() => [])).length > 0) return true;
      return false;
    },
    copy: (from, to) => copyWorkspace(threadWorkspace(base, from), { ...threadWorkspace(base, to), quota }),
    remove: (thread) => rm(threadFolder(base, thread), { recursive: true, force: true }),
  };
}
