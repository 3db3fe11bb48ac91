// Uses each optional part in a project that has none of them, and prints what it is told.
import { resolveModel } from "palimpsest/models";
import { openStore } from "palimpsest/stores";
import { bashAnswer } from "./bash-answer.mjs";

const told = (work) => work().then(String, ({ code, message }) => `${code}: ${message}`);
const entry = { name: "gpt", provider: "openai", model: "gpt-5", api_key: "a-key" };

console.log(
  JSON.stringify({
    store: await told(() => openStore("postgres://nobody@127.0.0.1:1/none")),
    model: await told(() => resolveModel({ models: [entry] }, "gpt")),
    bash: await bashAnswer(),
  }),
);
