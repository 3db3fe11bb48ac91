/**
 * Anthropic's memory tool over a folder, for any client: an object with one function per command, as the official SDK's
 * `betaMemoryTool(...)` takes it.
 */
import { type MemoryCommand, runMemoryCommand } from "./commands.ts";
import type { MemoryFiles } from "./files.ts";
import { folderFiles, type MemoryLimits } from "./folder-files.ts";

export interface MemoryToolOptions extends MemoryLimits {
  /** Where the files are: a folder for each user, made when the first file is. Or files of your own. */
  readonly files: string | MemoryFiles;
}

export type MemoryTool = {
  readonly [C in MemoryCommand["command"]]: (
    command: Omit<Extract<MemoryCommand, { readonly command: C }>, "command">,
  ) => Promise<string>;
} & {
  /** Any of them, as it came from a model. */
  run(command: MemoryCommand): Promise<string>;
};

export function createMemoryTool({ files: given, ...limits }: MemoryToolOptions): MemoryTool {
  const files = typeof given === "string" ? folderFiles(given, limits) : given;
  return {
    view: (command) => runMemoryCommand(files, { ...command, command: "view" }),
    create: (command) => runMemoryCommand(files, { ...command, command: "create" }),
    str_replace: (command) => runMemoryCommand(files, { ...command, command: "str_replace" }),
    insert: (command) => runMemoryCommand(files, { ...command, command: "insert" }),
    delete: (command) => runMemoryCommand(files, { ...command, command: "delete" }),
    rename: (command) => runMemoryCommand(files, { ...command, command: "rename" }),
    run: (command) => runMemoryCommand(files, command),
  };
}
