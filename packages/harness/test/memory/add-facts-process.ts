/** A process of the storage tests: adds facts to one document per driver, among others that do the same. */

import { storeStorage } from "../../src/features/memory/create-memory.ts";
import { fileStorage } from "../../src/features/memory/file-storage.ts";
import { openRepository } from "../../src/features/memory/repository.ts";
import { memoryService } from "../../src/features/memory/service.ts";
import { openStore } from "../../src/stores/open.ts";

const [folder = "", database = "", url = "", name = ""] = process.argv.slice(2);
const stores = [await openStore(database), await openStore(url)] as const;
const storages = [
  fileStorage({ base: folder, storagePath: "memory.json" }),
  storeStorage(stores[0], "sqlite"),
  storeStorage(stores[1], "postgres"),
];
const clock = () => new Date();
let next = 0;
const services = storages.map((storage) =>
  memoryService({ repository: openRepository(storage, clock), clock, ids: () => `${name}-${++next}` }),
);
for (let i = 0; i < 3; i += 1) {
  for (const service of services) {
    await service.add({ userId: "default", agentName: null }, { content: `Process ${name} adds word${name}x${i}` });
  }
}
for (const store of stores) await store.close();
