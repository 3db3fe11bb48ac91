import { once } from "node:events";
import { createGateway, type LogLine } from "@palimpsest/gateway";
import type { Context, Run } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { withHome } from "../home/home.ts";

interface Options {
  readonly host?: string;
  readonly port?: number;
}

export const run: Run<Options> = ({ options }, context) => {
  const { output, format } = context;
  return serve(context, options, async (url) => {
    // One line, so that a program can read it while this one runs on.
    if (format === "json") await output.write(`${JSON.stringify({ url, pid: process.pid })}\n`);
    else await output.line(`Palimpsest is at ${url} (Ctrl-C ends it).`);
  });
};

/** Until it is told to end; `onReady` when it can answer. */
export function serve(
  context: Context,
  { host, port }: Options,
  onReady: (url: string) => Promise<void>,
): Promise<number> {
  if (host === "") throw new UsageError("--host is empty: name an address.");
  if (port !== undefined && port > 65_535) throw new UsageError(`--port is at most 65535, not ${port}.`);
  return withHome(context, async (home) => {
    const log = (line: LogLine) => context.output.note(JSON.stringify(line));
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
      await onReady(url);
      await stopped;
    } finally {
      stop.abort();
      await gateway.close();
    }
    return 0;
  });
}
