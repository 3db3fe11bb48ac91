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
  const onReady = async (url: string) => {
    // One line, so that a program can read it while this one runs on.
    if (format === "json") await output.write(`${JSON.stringify({ url, pid: process.pid })}\n`);
    else await output.line(`Palimpsest is at ${url} (Ctrl-C ends it).`);
  };
  return serve(context, options, { onReady, log: "requests" });
};

interface Serving {
  /** Called once it can answer. */
  readonly onReady: (url: string) => Promise<void>;
  /** `failures`: for a person's own terminal, where a line for each request would hide the address. */
  readonly log: "requests" | "failures";
}

/** Until it is told to end. */
export function serve(context: Context, { host, port }: Options, { onReady, log: which }: Serving): Promise<number> {
  if (host === "") throw new UsageError("--host is empty: name an address.");
  if (port !== undefined && port > 65_535) throw new UsageError(`--port is at most 65535, not ${port}.`);
  return withHome(context, async (home) => {
    const log = (line: LogLine) => {
      if (which === "requests" || line.level === "error") context.output.note(JSON.stringify(line));
    };
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
