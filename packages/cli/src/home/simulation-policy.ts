/** How a simulated window is made to fit. */
import type { Policy } from "@palimpsest/core/compaction";
import type { Context } from "../command/command.ts";

export async function simulationPolicy({ located }: Context): Promise<Policy> {
  const { summarizationForThreads } = await import("palimpsest/internal/config");
  return summarizationForThreads((await located.settings()).summarization).policy;
}
