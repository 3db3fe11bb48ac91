import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonFields } from "../http/read-json.ts";
import { settingsOf } from "./converted-prompt.ts";

const TOOLS = [
  { type: "function" as const, name: "read", inputSchema: { type: "object" as const } },
  { type: "function" as const, name: "write", inputSchema: { type: "object" as const } },
];
const SCHEMA = { type: "object", properties: { city: { type: "string" } } };

test("which tool is to be called reaches another vendor's model, however the client spells it", () => {
  const rows: readonly (readonly [unknown, unknown])[] = [
    ["auto", { type: "auto" }],
    ["none", { type: "none" }],
    ["required", { type: "required" }],
    [
      { type: "function", function: { name: "read" } },
      { type: "tool", toolName: "read" },
    ],
    [
      { type: "function", name: "read" },
      { type: "tool", toolName: "read" },
    ],
    [{ type: "auto" }, { type: "auto" }],
    [{ type: "none" }, { type: "none" }],
    [{ type: "any" }, { type: "required" }],
    [
      { type: "tool", name: "write" },
      { type: "tool", toolName: "write" },
    ],
    [{ type: "allowed_tools", allowed_tools: { mode: "required", tools: [] } }, { type: "required" }],
    [{ type: "allowed_tools", mode: "auto", tools: [] }, { type: "auto" }],
    // A tool that stayed with its vendor, and an unknown one.
    [{ type: "web_search" }, undefined],
    [{ type: "tool", name: "web_search" }, undefined],
    ["sometimes", undefined],
    [null, undefined],
    [{}, undefined],
  ];
  for (const [tool_choice, choice] of rows)
    assert.deepEqual(settingsOf({ tool_choice }, TOOLS)["toolChoice"], choice, JSON.stringify(tool_choice));
});

test("that only one tool may be called at a time reaches another vendor's model, where there is a tool", () => {
  const single = { openai: { parallelToolCalls: false }, anthropic: { disableParallelToolUse: true } };
  const rows: readonly (readonly [JsonFields, unknown])[] = [
    [{ parallel_tool_calls: false }, single],
    [{ tool_choice: { type: "any", disable_parallel_tool_use: true } }, single],
    [{ parallel_tool_calls: true }, undefined],
    [{ tool_choice: { type: "auto", disable_parallel_tool_use: false } }, undefined],
    [{}, undefined],
  ];
  for (const [body, options] of rows)
    assert.deepEqual(settingsOf(body, TOOLS)["providerOptions"], options, JSON.stringify(body));
  assert.deepEqual(settingsOf({ parallel_tool_calls: false }, []), {});
});

test("without a tool that can be called there is no choice of one", () => {
  assert.deepEqual(settingsOf({ tool_choice: "required" }, []), {});
});

test("the form of the answer reaches another vendor's model, however the client spells it", () => {
  const asked = { type: "json", schema: SCHEMA };
  const rows: readonly (readonly [JsonFields, unknown])[] = [
    [{ response_format: { type: "json_object" } }, { type: "json" }],
    [{ response_format: { type: "text" } }, undefined],
    [
      { response_format: { type: "json_schema", json_schema: { name: "place", description: "d", schema: SCHEMA } } },
      { type: "json", schema: SCHEMA, name: "place", description: "d" },
    ],
    [
      { text: { format: { type: "json_schema", name: "place", schema: SCHEMA } } },
      { type: "json", schema: SCHEMA, name: "place" },
    ],
    [{ text: { format: { type: "text" } } }, undefined],
    [{ text: { verbosity: "low" } }, undefined],
    [{ output_config: { format: { type: "json_schema", schema: SCHEMA } } }, asked],
    [{ output_config: { effort: "low" } }, undefined],
    [{ response_format: { type: "json_schema" } }, { type: "json" }],
    [{ response_format: "json" }, undefined],
    [{ text: "json", output_config: null }, undefined],
  ];
  for (const [body, format] of rows)
    assert.deepEqual(settingsOf(body, [])["responseFormat"], format, JSON.stringify(body));
});

test("sampling and stops keep their values, and what isn't given isn't sent", () => {
  const penalties = { presence_penalty: 0.1, frequency_penalty: 0.2 };
  const body = { temperature: 0, top_p: 0.5, top_k: 4, seed: 7, stop: "END", ...penalties };
  assert.deepEqual(settingsOf(body, []), {
    temperature: 0,
    topP: 0.5,
    topK: 4,
    seed: 7,
    presencePenalty: 0.1,
    frequencyPenalty: 0.2,
    stopSequences: ["END"],
  });
  assert.deepEqual(settingsOf({ stop_sequences: ["a", 5, "b"], temperature: null }, []), { stopSequences: ["a", "b"] });
  assert.deepEqual(settingsOf({ stop: [] }, []), {});
});
