/** The files under `/memories` that the memory tool keeps, for an assistant elsewhere: the same commands, the same texts. */
import type { McpServer } from "@modelcontextprotocol/server";
import type { Home } from "palimpsest/internal/home";
import { MEMORY_COMMAND, type MemoryCommand, runMemoryCommand, userMemoryFiles } from "palimpsest/internal/memory-tool";
import { ToolFailure } from "palimpsest/workspace";
import { failed, told } from "./answer.ts";

export function addMemoryFiles(server: McpServer, { directory, userId }: Home): void {
  const files = userMemoryFiles(directory, userId);
  server.registerTool(
    "memory",
    {
      title: "Memory files",
      description: "Read and change the files under /memories, which outlive every conversation.",
      inputSchema: MEMORY_COMMAND,
      annotations: { destructiveHint: true, openWorldHint: false },
    },
    async (command) => {
      const answer = await runMemoryCommand(files, command as MemoryCommand).catch((error: unknown) => {
        if (error instanceof ToolFailure) return error;
        throw error;
      });
      return typeof answer === "string" ? told(answer) : failed(`Error: ${answer.message}`);
    },
  );
}
