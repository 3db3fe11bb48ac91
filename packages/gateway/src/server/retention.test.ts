import assert from "node:assert/strict";
import { test } from "node:test";
import { createThread } from "palimpsest/internal/threads";
import { running } from "../../test/running.ts";
import { deleteOldThreads } from "./background.ts";

test("threads without a change for so long are deleted, of every user, and no others", async (t) => {
  const { home } = await running(t);
  const at = (day: string) => ({ clock: () => new Date(`2026-01-${day}T00:00:00Z`) });
  for (const user of ["default", "ada"]) {
    const own = home.forUser(user);
    await createThread({ ...own, ...at("01") }, { id: "old" }, []);
    await createThread({ ...own, ...at("20") }, { id: "new" }, []);
  }
  const swept = await deleteOldThreads(home, new Date("2026-01-10T00:00:00Z"));
  assert.deepEqual(swept, { deleted: 2, busy: 0 });
  for (const user of ["default", "ada"]) {
    const { threads } = await home.forUser(user).store.threads();
    assert.deepEqual(
      threads.map(({ header }) => header.id),
      ["new"],
    );
  }
});

test("a gateway with a retention deletes what is too old when it starts", async (t) => {
  const { home, gateway } = await running(t, { config: "gateway: {retention_days: 30}\n" });
  await createThread({ ...home, clock: () => new Date("2020-01-01T00:00:00Z") }, { id: "old" }, []);
  await gateway.listen({ port: 0 });
  await gateway.close();
  assert.equal(await home.store.header("old"), undefined);
});
