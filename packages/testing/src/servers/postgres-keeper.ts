/**
 * Outlives the test process that started it and cleans up after it. It reads the server's process id from its input,
 * one per line (0: none runs); when the input ends, for whatever reason, it ends that server and removes the folder.
 */
import { rm } from "node:fs/promises";

const folder = process.argv[2]!;
let pid = 0;
let rest = "";

process.stdin.on("data", (chunk: Buffer) => {
  const lines = (rest + chunk.toString()).split("\n");
  rest = lines.pop()!;
  if (lines.length > 0) pid = Number(lines.at(-1));
});
process.stdin.on("end", async () => {
  if (pid > 0) await endServer();
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

async function endServer(): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      // SIGQUIT: every backend stops at once; after two seconds there is no more waiting.
      process.kill(pid, attempt === 0 ? "SIGQUIT" : attempt < 40 ? 0 : "SIGKILL");
    } catch {
      return;
    }
    await new Promise((wake) => setTimeout(wake, 50));
  }
}
