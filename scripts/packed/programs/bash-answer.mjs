// What the tool `bash` answers an agent, in a program where it can't start.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "@palimpsest/testing";
import { createDeepAgent } from "palimpsest";

export async function bashAnswer() {
  const base = mkdtempSync(join(tmpdir(), "palimpsest-packed-files-"));
  const model = scriptedModel([{ calls: [{ name: "bash", input: { command: "ls" } }] }, "done"]);
  const agent = createDeepAgent({ model, files: { base }, title: false });
  await agent.generate({ threadId: "t", prompt: "list my files" });
  await agent.close();
  rmSync(base, { recursive: true, force: true });
  return JSON.stringify(model.calls[1].prompt.at(-1));
}
