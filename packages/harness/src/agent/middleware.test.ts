import assert from "node:assert/strict";
import { test } from "node:test";
import { tool } from "ai";
import { z } from "zod";
import { agentKit, textOf } from "../../test/agent/agent-kit.ts";
import type { Middleware } from "./run.ts";

test("before hooks run in order, after hooks in reverse, and the first wraps the others", async () => {
  const order: string[] = [];
  const watch = (name: string): Middleware => ({
    name,
    beforeAgent: () => void order.push(`${name}>agent`),
    beforeModel: () => void order.push(`${name}>model`),
    wrapModel: async (request, next) => {
      order.push(`${name}(`);
      const outcome = await next(request);
      order.push(`)${name}`);
      return outcome;
    },
    wrapTool: async (call, next) => {
      order.push(`${name}[`);
      const outcome = await next(call);
      order.push(`]${name}`);
      return outcome;
    },
    afterModel: () => void order.push(`model<${name}`),
    afterAgent: () => void order.push(`agent<${name}`),
  });
  const noop = tool({ inputSchema: z.object({}), execute: () => "ok" });
  const kit = agentKit([{ calls: [{ name: "noop", input: {} }] }, "done"], {
    tools: { noop },
    middleware: [watch("a"), watch("b")],
  });
  await kit.agent.generate({ threadId: "t", prompt: "x" });
  const expected =
    "a>agent b>agent a>model b>model a( b( )b )a a[ b[ ]b ]a model<b model<a a>model b>model a( b( )b )a model<b model<a agent<b agent<a";
  assert.equal(order.join(" "), expected);
});

test("a middleware can change a request, answer for a tool, and add to the system prompt", async () => {
  const noop = tool({ inputSchema: z.object({}), execute: () => "real" });
  const kit = agentKit([{ calls: [{ name: "noop", input: {} }] }, "done"], {
    tools: { noop },
    middleware: [
      {
        name: "edits",
        prompt: () => [
          { slot: "skills", text: "- juggling" },
          { slot: "memory", text: "The user likes tea." },
        ],
        wrapModel: (request, next) => next({ ...request, instructions: request.instructions.replace("tea", "coffee") }),
        wrapTool: async () => ({ output: { type: "text", value: "pretended" }, isError: false }),
      },
    ],
  });
  await kit.agent.generate({ threadId: "t", prompt: "x" });
  const system = textOf(kit.model.calls[0]!.prompt[0] as never);
  assert.match(
    system,
    /<memory>\nThe user likes coffee\.\n<\/memory>\n\n<skills>\n- juggling\n<\/skills>\n\nCurrent date: /,
  );
  assert.equal(textOf((await kit.said())[2]!), "pretended");
});

test("a middleware that throws before the model ends the run with its error, and the prompt is kept", async () => {
  const broken: Middleware = {
    name: "broken",
    beforeModel: () => {
      throw new Error("no disk");
    },
  };
  const kit = agentKit([], { middleware: [broken] });
  const { end } = await kit.agent.stream({ threadId: "t", prompt: "x" }).result;
  assert.deepEqual(end, { kind: "failed", code: "failed", message: "no disk" });
  assert.equal((await kit.said()).length, 1);
});
