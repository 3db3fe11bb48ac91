import { test } from "node:test";
import { setTracingDisabled } from "@openai/agents-core";
import { charsPerToken } from "@palimpsest/core/internal/tokens";
import { openSqlite } from "palimpsest/stores";
import { manyTurns } from "../test/sailor.ts";
import { PalimpsestSession } from "./palimpsest-session.ts";

setTracingDisabled(true);

test("2,000 turns: every request fits, nothing is lost, and the log is whole", async (t) => {
  const store = openSqlite({ path: ":memory:" });
  t.after(() => store.close());
  const session = new PalimpsestSession({ store, sessionId: "s", window: 4000, counter: charsPerToken(4) });
  await manyTurns(store, session, { turns: 2000, window: 4000 });
});
