/**
 * Tells the agent which conversation it is in, so that files, tasks and notes it names can be found again. The folders
 * themselves are the workspace's.
 */
import type { Middleware } from "../agent/middleware.ts";

export function threadData(): Middleware {
  return {
    name: "thread-data",
    prompt: ({ threadId }) => [{ slot: "instructions", text: `This conversation is thread ${threadId}.` }],
  };
}
