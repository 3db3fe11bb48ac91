/** A provider of chat completions that answers at once with 64 deltas, each written by itself; it reads a request and looks at nothing in it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as next } from "node:timers/promises";
import { DELTAS } from "./history.ts";

const events = [
  ...DELTAS.map((content) => chunk({ content }, null)),
  chunk({}, "stop"),
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "m", choices: [], usage: { prompt_tokens: 10, completion_tokens: 64, total_tokens: 74 } })}\n\n`,
  "data: [DONE]\n\n",
].map((text) => Buffer.from(text));

function chunk(delta: object, reason: string | null): string {
  const choice = { index: 0, delta: { role: "assistant", ...delta }, finish_reason: reason };
  return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "m", choices: [choice] })}\n\n`;
}

const server = createServer((incoming, outgoing) => {
  incoming.resume();
  incoming.on("end", async () => {
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) {
      outgoing.write(event);
      await next();
    }
    outgoing.end();
  });
});
server.listen(0, "127.0.0.1", () =>
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`),
);
