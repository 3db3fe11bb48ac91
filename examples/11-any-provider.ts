// The engine alone, without I/O: whose messages these are, what a provider would refuse in them, and the same
// conversation in another provider's form. Runs in a browser, too.
import * as message from "@palimpsest/core/message";

const { detectDialect, forRequest, rulesOf, shapeOf } = message;

const messages: message.OpenAiMessage[] = [
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
for (const { rule } of message.violations(messages, shape, rules)) console.log("would be refused:", rule);

const repaired = message.repair(messages, shape, rules).messages;
message.assertValid(repaired, shape, rules);
console.log(JSON.stringify(message.convert(repaired, "openai", "anthropic").at(-1)));
