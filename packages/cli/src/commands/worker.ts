import { once } from "node:events";
import { startWorker } from "@palimpsest/gateway";
import type { Run } from "../command/command.ts";
import { withHome } from "../home/home.ts";

export const run: Run = (_given, context) => {
  const { output, format } = context;
  return withHome(context, async (home) => {
    const stop = new AbortController();
    const stopped = Promise.race([
      once(process, "SIGTERM", { signal: stop.signal }),
      once(process, "SIGINT", { signal: stop.signal }),
    ]).catch(() => {});
    const worker = await startWorker({ home, log: output.note });
    try {
      if (format === "json") await output.write(`${JSON.stringify({ pid: process.pid })}\n`);
      else
        await output.line(
          "Working: learning from turns, building search indexes, deleting old threads (Ctrl-C ends it).",
        );
      await stopped;
    } finally {
      stop.abort();
      await worker.close();
    }
    return 0;
  });
};
