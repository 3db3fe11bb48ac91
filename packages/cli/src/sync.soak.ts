// 200 rounds of a session that is written while it is followed, with a kill of either side in each.
import { test } from "node:test";
import { desk } from "../test/binary.ts";
import { killSync } from "../test/kill-sync.ts";

test("however often the writer or the follower is killed, each message is stored once and in order", async (t) => {
  const { messages, cut } = await killSync(desk(t), 200);
  t.diagnostic(`${messages} messages, ${cut} lines cut off`);
});
