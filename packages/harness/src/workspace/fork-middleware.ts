/** Gives a fork the files that a killed process didn't get to copy, before its first run works with them. */
import type { Middleware } from "../agent/middleware.ts";
import { FILES_COPIED, type FileCopier, filesToCopy } from "../thread/fork.ts";

/** Internal: the deep agent adds it where it gives forks their files. */
export function forkedFiles({ copy }: FileCopier): Middleware {
  return {
    name: "forked-files",
    async beforeAgent(run) {
      const from = filesToCopy(run.conversation.head().state);
      if (from === null) return;
      const { user, id } = run.conversation.header;
      await copy({ user, id: from }, { user, id });
      await run.commit([{ kind: "state", patch: FILES_COPIED }]);
    },
  };
}
