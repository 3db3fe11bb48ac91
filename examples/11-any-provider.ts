// The engine alone, without I/O: whose messages these are, what a provider would refuse in them, and the same
// conversation in another provider's form. Runs in a browser, too.
import type { OpenAiMessage } from "@palimpsest/core";
import { convert, detectDialect, forRequest, repair, rulesOf, shapeOf, violations } from "@palimpsest/core";

const messages: OpenAiMessage[] = [
  { role: "user", content: "How deep is the harbor?" },
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "call_1", type: "function", function: { name: "sound", arguments: '{"pier": 3}' } },
      { id: "call_2", type: "function", function: { name: "sound", arguments: '{"pier": 4}' } },
    ],
  },
  // The process ended before the second pier was sounded.
  { role: "tool", tool_call_id: "call_1", content: "4.2 m" },
];

const { dialect, reason } = detectDialect(messages);
console.log(`${dialect}: ${reason}`);

const shape = shapeOf("openai");
const rules = forRequest(rulesOf("openai"));
for (const { rule } of violations(messages, shape, rules)) console.log("would be refused:", rule);

const repaired = repair(messages, shape, rules).messages;
console.log(`left: ${violations(repaired, shape, rules).length}`);
console.log(JSON.stringify(convert(repaired, "openai", "anthropic").at(-1)));
