import { once } from "node:events";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { startIndexing } from "palimpsest/session";
import { acpAgent } from "../acp/agent.ts";
import type { CommandRun } from "../command/command.ts";
import { withHome } from "../home/home.ts";

/** Nothing but the protocol is ever printed on stdout. It ends with its input, as an editor that goes away ends it. */
export const run: CommandRun = (_input, context) =>
  withHome(context, async (home) => {
    const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };
    const { app, close } = acpAgent({ home, version, warn: (text) => context.output.note(text) });
    const indexing = await startIndexing(home.store);
    const output = Writable.toWeb(process.stdout) as WritableStream<Uint8Array>;
    const input = Readable.toWeb(process.stdin) as unknown as ReadableStream<Uint8Array>;
    const connection = app.connect(ndJsonStream(output, input));
    await Promise.race([connection.closed, once(context.signal, "abort")]);
    await close();
    await indexing.stop();
    return 0;
  });
