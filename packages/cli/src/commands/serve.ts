/** Servers of a home: the gateway, the worker beside it, the page, the Model Context Protocol. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { setInterval } from "node:timers/promises";
import { DEFAULT_USER } from "@palimpsest/core/internal/log";
import { createGateway, type LogLine, startWorker } from "@palimpsest/gateway";
import { serveMcp } from "@palimpsest/gateway/internal/mcp";
import type { CommandRun, Context } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { withHome } from "../home/home.ts";

interface ServeOptions {
  readonly host?: string;
  readonly port?: number;
}

const runServe: CommandRun<ServeOptions> = ({ options }, context) => {
  const { output, format } = context;
  const onReady = async (url: string) => {
    // One line, so that a program can read it while this one runs on.
    if (format === "json") await output.write(`${JSON.stringify({ url, pid: process.pid })}\n`);
    else await output.line(`Palimpsest is at ${url} (Ctrl-C ends it).`);
  };
  return serve(context, options, { onReady, log: "requests" });
};

interface Serving {
  readonly onReady: (url: string) => Promise<void>;
  /** `failures`: for a person's own terminal, where a line for each request would hide the address. */
  readonly log: "requests" | "failures";
}

/** Until it is told to end. */
export function serve(
  context: Context,
  { host, port }: ServeOptions,
  { onReady, log: which }: Serving,
): Promise<number> {
  if (host === "") throw new UsageError("--host is empty: name an address.");
  if (port !== undefined && port > 65_535) throw new UsageError(`--port is at most 65535, not ${port}.`);
  return withHome(context, async (home) => {
    const log = (line: LogLine) => {
      if (which === "requests" || line.level === "error") context.output.note(JSON.stringify(line));
    };
    const gateway = createGateway({ home, log });
    // From here on an end is an orderly one.
    const stop = new AbortController();
    const stopped = told(stop.signal);
    try {
      const { url } = await gateway.listen({ host, port });
      await onReady(url);
      await stopped;
    } finally {
      stop.abort();
      await gateway.close();
    }
    return 0;
  });
}

export const serving = { run: runServe };

/** Resolves when the program is told to end. */
async function told(signal: AbortSignal): Promise<void> {
  const signals = ["SIGTERM", "SIGINT"].map((name) => once(process, name, { signal }));
  await Promise.race([...signals, ...(process.env["npm_command"] === "exec" ? [npxEnds(signal)] : [])]).catch(() => {});
}

/** npx ends at once when it gets a SIGTERM and hands none on: what it started then has another parent. */
async function npxEnds(signal: AbortSignal): Promise<void> {
  const parent = process.ppid;
  for await (const _ of setInterval(500, undefined, { signal, ref: false })) if (process.ppid !== parent) return;
}

const runWorker: CommandRun = (_given, context) => {
  const { output, format } = context;
  return withHome(context, async (home) => {
    const stop = new AbortController();
    const stopped = told(stop.signal);
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

export const working = { run: runWorker };

interface StudioOptions {
  readonly port?: number;
  readonly print?: boolean;
}

const runStudio: CommandRun<StudioOptions> = async ({ positionals: [threadId], options }, context) => {
  const { output, format } = context;
  const path = threadId === undefined ? "/" : `/threads/${encodeURIComponent(threadId)}/window`;
  const show = async (url: string, how: string) => {
    if (format === "json") await output.write(`${JSON.stringify({ url: url + path, pid: process.pid })}\n`);
    else await output.line(`The page is at ${url}${path} ${how}`);
    if (options.print !== true && format !== "json") openInBrowser(url + path);
  };
  const { host, port } = (await context.located.settings()).gateway;
  const address = `http://${host}:${options.port ?? port}`;
  if (context.userId === DEFAULT_USER && (await isGateway(address))) {
    await show(address, "(a gateway was there already).");
    return 0;
  }
  const onReady = (url: string) => show(url, "(Ctrl-C ends it).");
  return serve(context, options, { onReady, log: context.verbose ? "requests" : "failures" });
};

/** Whether one of our gateways answers there, for any home. A closed port refuses at once; a busy gateway takes seconds. */
async function isGateway(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(10_000) });
    const { info } = (await response.json()) as { readonly info?: { readonly title?: string } };
    return info?.title === "Palimpsest gateway";
  } catch {
    return false;
  }
}

/** Where there is none, the address that was printed has to do. */
function openInBrowser(url: string): void {
  const [program, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(program!, [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

export const opening = { run: runStudio };

/** Nothing but the protocol is ever printed on stdout. It ends with its input, as an editor that goes away ends it. */
const runMcp: CommandRun = (_input, context) =>
  withHome(context, async (home) => {
    const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };
    const serving = serveMcp(home, version, (text) => context.output.note(text));
    const { signal } = context;
    await Promise.race([serving.closed, once(signal, "abort")]);
    await serving.close();
    return 0;
  });

export const speakingMcp = { run: runMcp };
