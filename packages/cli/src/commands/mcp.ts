import { once } from "node:events";
import { createRequire } from "node:module";
import { serveMcp } from "@palimpsest/gateway/internal/mcp";
import type { Run } from "../command/command.ts";
import { withHome } from "../home/home.ts";

/** Nothing but the protocol is ever printed on stdout. It ends with its input, as an editor that goes away ends it. */
export const run: Run = (_input, context) =>
  withHome(context, async (home) => {
    const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };
    const serving = serveMcp(home, version, (text) => context.output.note(text));
    const { signal } = context;
    await Promise.race([serving.closed, once(signal, "abort")]);
    await serving.close();
    return 0;
  });
