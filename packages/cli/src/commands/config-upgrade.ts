import { constants } from "node:fs";
import { copyFile, open, readFile, rename, stat } from "node:fs/promises";
import { rewriteConfig } from "palimpsest/internal/config";
import type { Run } from "../command/command.ts";
import { Failure } from "../command/failure.ts";

export const run: Run = async ({ positionals }, context) => {
  const { format, output } = context;
  const path = positionals[0] ?? (await context.located.configuration())?.path;
  if (path === undefined)
    throw new Failure("missing", "There is no config.yaml: the defaults are used, nothing to upgrade.");
  const result = rewriteConfig(await readFile(path, "utf8"), { env: process.env });
  if (result.kind === "invalid") {
    for (const problem of result.problems.slice(1)) output.note(`${path}: ${problem}`);
    throw new Failure("invalid", `${path}: ${result.problems[0]}. The file is as it was.`);
  }
  if (result.kind === "current") {
    if (format === "json") await output.json({ path, from: result.version, to: result.version, backup: null });
    else await output.line(`${path} is at version ${result.version} already.`);
    return 0;
  }
  const backup = await keepCopy(path);
  await replace(path, result.text);
  const { from, to } = result;
  if (format === "json") await output.json({ path, from, to, backup });
  else await output.line(`${path} is at version ${to} now; the old file is ${backup}.`);
  return 0;
};

/** Beside the file, under the first name that is free: an earlier backup is never overwritten. */
async function keepCopy(path: string): Promise<string> {
  for (let count = 0; ; count += 1) {
    const backup = `${path}.bak${count === 0 ? "" : `-${count}`}`;
    try {
      await copyFile(path, backup, constants.COPYFILE_EXCL);
      return backup;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

/** Whole or not at all; the file keeps its mode. */
async function replace(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`;
  const file = await open(temporary, "w", (await stat(path)).mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}
