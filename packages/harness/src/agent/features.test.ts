// A feature that only this file knows: what it adds to an agent's types and what becomes of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tool } from "ai";
import { z } from "zod";
import { agentKit } from "../../test/agent/agent-kit.ts";
import { AgentError } from "./errors.ts";
import type { Middleware } from "./run.ts";

declare module "./features.ts" {
  interface FeatureEvents {
    readonly customs:
      | { readonly type: "parcel-open"; readonly id: string; readonly data: { readonly weight: number } }
      | { readonly type: "parcel-smell"; readonly smell: string };
  }
  interface FeatureEnds {
    readonly customs: { readonly kind: "seized"; readonly parcel: string };
  }
  interface FeatureErrorCodes {
    readonly customs: "forbidden-goods" | "no-papers";
  }
}

const customs: Middleware = {
  name: "customs",
  tools: (run) => ({
    open_parcel: tool({
      inputSchema: z.object({ parcel: z.string() }),
      execute: ({ parcel }) => {
        run.emit({ type: "parcel-smell", smell: "cheese" });
        run.emit({ type: "parcel-open", id: parcel, data: { weight: 3 } });
        if (parcel === "cheese") run.finish({ kind: "seized", parcel });
        return "opened";
      },
    }),
  }),
  beforeModel({ emit }) {
    emit({ type: "parcel-smell", smell: "none" });
  },
};

const script = (parcel: string) => [{ calls: [{ name: "open_parcel", input: { parcel } }] }, "done"];

test("a middleware emits events of its own; those with data reach a browser as parts of their name", async () => {
  const kit = agentKit(script("books"), { middleware: [customs] });
  const types: unknown[] = [];
  for await (const chunk of kit.agent.stream({ threadId: "t", prompt: "x" }).toUIMessageStream())
    if (chunk.type.startsWith("data-")) types.push(chunk);
  assert.deepEqual(types, [{ type: "data-parcel-open", id: "books", data: { weight: 3 } }]);
  assert.deepEqual(
    kit.of("parcel-smell").map(({ smell }) => smell),
    ["none", "cheese", "none"],
  );
});

test("a middleware ends a run with an end of its own", async () => {
  const kit = agentKit(script("cheese"), { middleware: [customs] });
  const stream = kit.agent.stream({ threadId: "t", prompt: "x" });
  const chunks: unknown[] = [];
  for await (const chunk of stream.toUIMessageStream()) chunks.push(chunk);
  assert.deepEqual((await stream.result).end, { kind: "seized", parcel: "cheese" });
  assert.deepEqual(chunks.at(-1), { type: "finish", finishReason: "other" });
});

test("a middleware fails a run with an error code of its own", async () => {
  const strict: Middleware = {
    name: "strict",
    beforeAgent() {
      throw new AgentError("no-papers", "the parcel has no papers: ask its sender");
    },
  };
  const kit = agentKit([], { middleware: [strict] });
  const { end } = await kit.agent.stream({ threadId: "t", prompt: "x" }).result;
  assert.deepEqual(end, { kind: "failed", code: "no-papers", message: "the parcel has no papers: ask its sender" });
});
