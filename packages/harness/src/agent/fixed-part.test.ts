// System prompt and tools are hashed and counted once while they stay the same: what is remembered equals what is worked out.
import assert from "node:assert/strict";
import { test } from "node:test";
import { aiSdkShape, toolRegistry } from "@palimpsest/core/internal/message";
import { charsPerToken, createMeter } from "@palimpsest/core/internal/tokens";
import { jsonSchema, type ToolSet, tool } from "ai";
import fc from "fast-check";
import { z } from "zod/v4";
import { agentKit } from "../../test/agent/agent-kit.ts";
import { fixedSizes, type PromptSection, renderFixed } from "./fixed-part.ts";
import type { Run } from "./run.ts";

const INPUTS = [
  z.object({ path: z.string() }),
  z.object({ line: z.number() }),
  jsonSchema({ type: "object", properties: { word: { type: "string" } } }),
];

const few = (texts: readonly string[]) => fc.constantFrom(...texts);
const section = fc.record({
  slot: fc.constantFrom("instructions", "memory", "skills"),
  text: few(["", "Be brief.", "Alice likes tea."]),
}) satisfies fc.Arbitrary<PromptSection>;
const brought = fc.record({ name: few(["ls", "grep"]), description: few(["", "Looks."]), input: fc.nat(2) });
const turn = fc.record({
  base: few(["You help.", "You help.\n\nBe brief."]),
  sections: fc.array(section, { maxLength: 3 }),
  tools: fc.uniqueArray(brought, { selector: ({ name }) => name }),
});

test("whatever a run sends beside its messages, its hash and its sizes are those of a fresh look", async () => {
  const run = await anyRun();
  const meterOf = () => createMeter(aiSdkShape, { counter: charsPerToken(3) });
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { maxLength: 12 }), async (turns) => {
      const [registry, meter] = [toolRegistry(), meterOf()];
      for (const { base, sections, tools: list } of turns) {
        const middleware = [{ name: "given", prompt: () => sections }];
        const source = { base, tools: toolsOf(list), middleware };
        const part = await renderFixed(run, { ...source, registry });
        const fresh = await renderFixed(run, { ...source, registry: toolRegistry() });
        assert.deepEqual([part.hash, part.prompt, part.schemas], [fresh.hash, fresh.prompt, fresh.schemas]);
        assert.equal(part.hash, run.deps.hash(JSON.stringify([part.prompt.text, part.schemas])));
        assert.deepEqual(fixedSizes(part, meter), fixedSizes(fresh, meterOf()));
        assert.deepEqual(Object.keys(part.tools), Object.keys(source.tools));
      }
    }),
  );
});

test("two runs that send the same hash it once, and their tools are the same objects for the meter", async () => {
  const run = await anyRun();
  let hashes = 0;
  const hash: Run["deps"]["hash"] = (text) => {
    hashes += 1;
    return run.deps.hash(text);
  };
  const counted: Run = { ...run, deps: { ...run.deps, hash } };
  const source = { base: "You help.", middleware: [], registry: toolRegistry() };
  const first = await renderFixed(counted, { ...source, tools: toolsOf([{ name: "ls", description: "", input: 0 }]) });
  const second = await renderFixed(counted, { ...source, tools: toolsOf([{ name: "ls", description: "", input: 0 }]) });
  assert.equal(hashes, 1);
  assert.equal(first.schemas, second.schemas);
  assert.notEqual(first.tools, second.tools, "the tools themselves belong to their run");
});

function toolsOf(list: readonly { name: string; description: string; input: number }[]): ToolSet {
  return Object.fromEntries(
    list.map(({ name, description, input }) => [name, tool({ description, inputSchema: INPUTS[input]! })]),
  );
}

/** A run of an agent, as its middleware sees it. */
async function anyRun(): Promise<Run> {
  const runs: Run[] = [];
  const { agent } = agentKit(["Done."], {
    middleware: [{ name: "probe", beforeAgent: (run) => void runs.push(run) }],
  });
  await agent.generate({ threadId: "t", prompt: "Begin." });
  return runs[0]!;
}
