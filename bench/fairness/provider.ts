/** A provider on a thread of its own, so that its work isn't counted as the gateway's: it reads what it is sent and says ok. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort } from "node:worker_threads";

const ANSWER = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 },
};

const CHUNK = {
  ...ANSWER,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
};

const server = createServer((incoming, answer) => {
  // Where a body asks for a stream is told by its ends: the rest may be megabytes.
  let [first, last] = ["", ""];
  incoming.on("data", (piece: Buffer) => {
    if (first === "") first = piece.toString("latin1", 0, 1000);
    last = (last + piece.toString("latin1", Math.max(0, piece.length - 1000))).slice(-1000);
  });
  incoming.on("end", () => {
    const streams = /"stream":\s*true/.test(first + last);
    answer.writeHead(200, { "content-type": streams ? "text/event-stream" : "application/json" });
    answer.end(streams ? `data: ${JSON.stringify(CHUNK)}\n\ndata: [DONE]\n\n` : JSON.stringify(ANSWER));
  });
});
server.listen(0, "127.0.0.1", () => parentPort!.postMessage((server.address() as AddressInfo).port));
