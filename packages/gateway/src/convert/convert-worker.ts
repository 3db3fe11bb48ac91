import { parentPort } from "node:worker_threads";
import { toMarkdown } from "./to-markdown.ts";

const port = parentPort!;
port.on("message", async ({ name, bytes }: { readonly name: string; readonly bytes: Uint8Array }) => {
  port.postMessage(await toMarkdown(name, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)));
});
