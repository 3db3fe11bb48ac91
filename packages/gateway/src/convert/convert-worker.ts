/** What a conversion's own process runs: one file at a time, until its parent has gone. */
import { toMarkdown } from "./to-markdown.ts";

process.on("message", async ({ name, bytes }: { readonly name: string; readonly bytes: Uint8Array }) => {
  process.send?.(await toMarkdown(name, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)));
});
process.on("disconnect", () => process.exit());
