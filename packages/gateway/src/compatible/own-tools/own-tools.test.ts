// Tools of ours at /v1: the model calls them, the gateway answers, and the official clients never see one of these calls.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CLIENTS, call, logOf, note, OURS, onlyThread, playing, refusals, served } from "../../../test/own-tools.ts";

for (const [name, connect] of CLIENTS)
  for (const stream of [false, true]) {
    const title = `${name}, ${stream ? "streamed" : "whole"}`;

    test(`${title}: a note is kept by the gateway, and the client gets one answer without the call`, async (t) => {
      const gateway = await served(
        t,
        playing(
          { text: "I write it down.", calls: [call("c1", "notes", note("Ship on Friday."))] },
          "We ship on Friday.",
          "You are welcome.",
        ),
      );
      const client = connect(gateway.url, { stream });
      const first = await client.say("When do we ship? Friday, I say.");
      assert.equal(first.text, "I write it down.\n\nWe ship on Friday.");
      assert.deepEqual(first.calls, []);
      const [one, two] = gateway.provider.requests;
      assert.deepEqual(one!.tools, OURS);
      assert.match(JSON.stringify(two!.body), /Note plan is at revision 1/);
      const spent = [one!, two!].map(({ verdict }) => (verdict.kind === "answered" ? verdict : null)!);
      assert.equal(first.usage.input, spent[0]!.input + spent[1]!.input, "both rounds are paid for");
      assert.equal(first.usage.output, spent[0]!.output + spent[1]!.output);

      const second = await client.say("Thanks.");
      assert.equal(second.text, "You are welcome.");
      const third = gateway.provider.requests[2]!;
      assert.match(JSON.stringify(third.body), /Note plan is at revision 1/, "the model still sees its call");
      assert.deepEqual(third.turns.slice(0, two!.turns.length), two!.turns, "what was sent is sent again");
      assert.deepEqual(refusals(gateway), []);
      const log = await logOf(gateway, await onlyThread(gateway));
      assert.equal(log.filter((body) => body.includes("Ship on Friday.")).length, 1);
      assert.equal(log.length, 6, "question, call, result, answer, question, answer");
    });

    test(`${title}: beside a call to the client's tool ours is answered here, and the client sees its own alone`, async (t) => {
      const gateway = await served(
        t,
        playing(
          { text: "Both.", calls: [call("c1", "notes", note("Seven fathoms.")), call("c2", "sound")] },
          "It is deep.",
          "Bye.",
        ),
      );
      const client = connect(gateway.url, { stream, tools: ["sound"] });
      const first = await client.say("How deep is it?");
      assert.deepEqual(
        first.calls.map((one) => one.name),
        ["sound"],
      );
      assert.equal(first.text, "Both.");
      const second = await client.result(first, "7 fathoms");
      assert.equal(second.text, "It is deep.");
      const sent = JSON.stringify(gateway.provider.requests[1]!.body);
      assert.match(sent, /Note plan is at revision 1/);
      assert.match(sent, /7 fathoms/);
      assert.equal((await client.say("Thanks.")).text, "Bye.");
      assert.deepEqual(refusals(gateway), []);
      await logOf(gateway, await onlyThread(gateway));
    });
  }
