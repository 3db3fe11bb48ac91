/** Ctrl-X Ctrl-E: the line in the editor that the person has set, and what they made of it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** As it was when the editor fails, as vi's `:cq` does. */
export async function editText(text: string): Promise<string> {
  const { VISUAL, EDITOR } = process.env;
  const editor = VISUAL || EDITOR || "vi";
  const folder = await mkdtemp(join(tmpdir(), "palimpsest-edit-"));
  const file = join(folder, "message.md");
  try {
    await writeFile(file, text === "" ? "" : `${text}\n`, { mode: 0o600 });
    // The variable may hold options, as in "code --wait".
    const child = spawn(`${editor} "${file}"`, { shell: true, stdio: "inherit" });
    const [code] = await once(child, "exit");
    if (code === 127) throw new Error(`The editor "${editor}" was not found: set VISUAL or EDITOR to one.`);
    return code === 0 ? (await readFile(file, "utf8")).trimEnd() : text;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
