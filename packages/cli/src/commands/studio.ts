import { spawn } from "node:child_process";
import { DEFAULT_USER } from "@palimpsest/core/log";
import type { Run } from "../command/command.ts";
import { serve } from "./serve.ts";

interface Options {
  readonly port?: number;
  readonly print?: boolean;
}

export const run: Run<Options> = async ({ positionals: [threadId], options }, context) => {
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

/** One of ours, whichever home it serves. */
async function isGateway(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/openapi.json`, { signal: AbortSignal.timeout(500) });
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
