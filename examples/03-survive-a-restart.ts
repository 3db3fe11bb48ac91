// A thread outlives the process: each message is on disk before the next step, so a new agent just goes on.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDeepAgent } from "palimpsest";
import { offlineModel } from "palimpsest/models";
import { openStore } from "palimpsest/stores";

const folder = await mkdtemp(join(tmpdir(), "palimpsest-example-"));
// Or a server: "postgres://user:password@host/database".
const path = join(folder, "palimpsest.db");

const before = await openStore(path);
await createDeepAgent({ model: offlineModel(), store: before }).generate({
  threadId: "voyage",
  prompt: "The cargo is forty barrels of cider.",
});
await before.close();

const after = await openStore(path);
const { text } = await createDeepAgent({ model: offlineModel(), store: after }).generate({
  threadId: "voyage",
  prompt: "What did I say about the cargo?",
});
console.log(text);
await after.close();
await rm(folder, { recursive: true });
