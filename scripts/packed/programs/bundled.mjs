// Made one file by a bundler: the parts that are loaded late must have come along, such as the tokenizer, with which the
// agent of `bashAnswer` counts.
import { createDeepAgent } from "palimpsest";
import { parseConfig } from "palimpsest/home";
import { offlineModel } from "palimpsest/models";
import { bashAnswer } from "./bash-answer.mjs";

const parsed = parseConfig("config_version: 1\nlog_level: debug\n", { env: {} });
const agent = createDeepAgent({ model: offlineModel() });
const { text } = await agent.generate({ threadId: "t", prompt: "hello" });
await agent.close();
console.log(
  JSON.stringify({
    level: parsed.config.log_level,
    text,
    bash: await bashAnswer(),
  }),
);
