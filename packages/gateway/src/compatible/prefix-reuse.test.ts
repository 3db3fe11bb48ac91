/** What a prompt cache finds again: of each request to the provider, the bytes of the messages of the one before it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startProviderServer } from "@palimpsest/testing";
import { TALKERS } from "../../test/any-length.ts";
import { modelsFor } from "../../test/before-provider.ts";
import { recorder } from "../../test/recorder.ts";
import { running } from "../../test/running.ts";
import { conversationSpan } from "./front.ts";

const TURNS = 45;
const WINDOW = 2500;

for (const [name, talker] of Object.entries(TALKERS))
  test(`${name}: a request begins with all the messages of the one before, byte for byte, unless the view has changed`, async (t) => {
    const provider = await startProviderServer({
      window: WINDOW,
      respond: ({ index }) => `answer ${index}: ${"sand and shell. ".repeat(20)}`,
    });
    t.after(() => provider.close());
    const recorded = await recorder(t, provider);
    const config = modelsFor({ ...provider, url: recorded.url }, WINDOW);
    const served = { ...(await running(t, { config })), provider };
    const { ask } = talker(served);
    const views = { verbatim: 0, compacted: 0, changed: 0 };
    let before: Buffer = Buffer.alloc(0);
    for (let turn = 1; turn <= TURNS; turn += 1) {
      const { headers } = await ask(`Question ${turn}: ${"how deep is it there? ".repeat(turn % 9)}`);
      const sent = conversationIn(recorded.bodies.at(-1)!, name);
      const view = headers.get("x-palimpsest-view") as "verbatim" | "compacted";
      const isChanged = headers.has("x-palimpsest-compaction");
      views[isChanged ? "changed" : view] += 1;
      if (!isChanged) assert.ok(sent.subarray(0, before.length).equals(before), `turn ${turn} sends others, ${view}`);
      assert.ok(isChanged || sent.length > before.length);
      before = sent;
    }
    assert.equal(recorded.bodies.length, TURNS);
    assert.ok(views.verbatim > 3 && views.compacted > 10 && views.changed > 1, JSON.stringify(views));
  });

/** The list's bytes without what closes it. The system prompt changes with each turn, and is a message in one protocol. */
function conversationIn(body: Buffer, protocol: string): Buffer {
  const field = protocol === "responses" ? "input" : "messages";
  const { start, end } = conversationSpan(body, field, protocol === "chat completions" ? 1 : 0)!;
  return body.subarray(start, end);
}
