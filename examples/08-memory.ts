// What one thread learns, another knows: facts with their sources, learned behind the turn, corrected by the user's own words.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgentFromConfig, loadConfig } from "palimpsest/home";
import { openStore } from "palimpsest/stores";

const home = await mkdtemp(join(tmpdir(), "palimpsest-example-"));
const loaded = loadConfig({ home, cwd: home, env: {} });
if (loaded.kind === "invalid") throw new Error(loaded.problems.join("; "));
const store = await openStore(join(home, "palimpsest.db"));

const { agent, memory } = await createAgentFromConfig({ home, config: loaded.config, store });
await agent.generate({ threadId: "monday", prompt: "My name is Ada and I prefer short answers." });
await agent.close();
// Learning waits for a pause; closing does what is still to be done.
await memory?.close(10_000);

const next = await createAgentFromConfig({ home, config: loaded.config, store });
for (const { content, confidence } of (await next.memory!.service.show({ userId: "default" })).facts)
  console.log(`${content} (${confidence})`);
await next.agent.close();
await next.memory?.close(0);
await store.close();
await rm(home, { recursive: true });
