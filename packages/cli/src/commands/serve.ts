import { once } from "node:events";
import { createGateway, type LogLine } from "@palimpsest/gateway";
import type { Run } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { withHome } from "../home/home.ts";

interface Options {
  readonly host?: string;
  readonly port?: number;
}

export const run: Run<Options> = ({ options }, context) => {
  const { host, port } = options;
  if (host === "") throw new UsageError("--host is empty: name an address.");
  if (port !== undefined && port > 65_535) throw new UsageError(`--port is at most 65535, not ${port}.`);
  const { output, format } = context;
  return withHome(context, async (home) => {
    const log = (line: LogLine) => output.note(JSON.stringify(line));
    const gateway = createGateway({ home, log });
    // From here on an end is an orderly one.
    const stop = new AbortController();
    const stopped = Promise.race([
      once(process, "SIGTERM", { signal: stop.signal }),
      once(process, "SIGINT", { signal: stop.signal }),
    ]).catch(() => {});
    try {
      const { url } = await gateway.listen({
        ...(host !== undefined && { host }),
        ...(port !== undefined && { port }),
      });
      // One line, so that a program can read it while this one runs on.
      if (format === "json") await output.write(`${JSON.stringify({ url, pid: process.pid })}\n`);
      else await output.line(`Palimpsest is at ${url} (Ctrl-C ends it).`);
      await stopped;
    } finally {
      stop.abort();
      await gateway.close();
    }
    return 0;
  });
};
