// Anthropic's memory tool with files of ours behind it: for the official SDK's tool runner, or any loop of yours.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryTool } from "palimpsest";

const folder = mkdtempSync(join(tmpdir(), "memory-tool-"));
// One folder for each user; nothing gets out of it, and edits at once don't lose each other.
const memory = createMemoryTool({ files: join(folder, "ada") });

// With the SDK: client.beta.messages.toolRunner({ tools: [betaMemoryTool(memory)], ... }). Here are the commands a model sends.
await memory.run({ command: "create", path: "/memories/voyage.md", file_text: "Cargo: cider\nTide: six\n" });
await memory.run({ command: "str_replace", path: "/memories/voyage.md", old_str: "six", new_str: "seven" });
console.log(await memory.run({ command: "view", path: "/memories/voyage.md" }));

const outside = memory.run({ command: "view", path: "/memories/../../etc/passwd" });
console.log(await outside.catch((error: Error) => error.message));
rmSync(folder, { recursive: true });
