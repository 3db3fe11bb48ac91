// A client of chat completions that sends the whole conversation each time: the gateway keeps the thread behind it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { type ThreadUserOptions, threadConformance } from "@palimpsest/testing/conformance";
import { openHome } from "palimpsest/home";
import { replay } from "palimpsest/internal/threads";
import { PATIENT } from "../../test/running.ts";
import { createGateway } from "../index.ts";

interface Said {
  readonly role: string;
  readonly content: string;
}

threadConformance("a client of the gateway", {
  skip: { lease: "a thread that somebody holds is forked, and the client gets its answer" },
  async open({ store, path, threadId, window, model }) {
    const provider = await startProvider(model);
    const directory = dirname(path);
    writeFileSync(join(directory, "config.yaml"), configFor(provider.address, window));
    const home = await openHome({ home: directory, cwd: directory, env: { HOME: directory }, store: path });
    const gateway = createGateway({ home, log: () => {}, ...PATIENT });
    const { url } = await gateway.listen({ port: 0 });
    const messages: Said[] = [];
    if ((await store.header(threadId)) !== undefined)
      for await (const { body } of replay({ store }, threadId)) messages.push(JSON.parse(body));
    const post = async (address: string, body: object, headers = {}) => {
      const init = { method: "POST", headers: { "content-type": "application/json", ...headers } };
      const response = await fetch(`${url}${address}`, { ...init, body: JSON.stringify(body) });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      return JSON.parse(text);
    };
    return {
      async say(words) {
        messages.push({ role: "user", content: words });
        const headers = { authorization: "Bearer client", "x-palimpsest-thread": threadId };
        const { choices } = await post("/v1/chat/completions", { model: "gpt", messages }, headers);
        messages.push(choices[0].message);
      },
      async compact() {
        assert.equal((await post(`/api/threads/${threadId}/compact`, {})).kind, "compacted");
      },
      async close() {
        await gateway.close();
        await home.close();
        provider.close();
      },
    };
  },
});

/** Summaries are extracted: the suite counts the answers of its model. */
const configFor = (address: string, window: number): string => `config_version: 1
models:
  - { name: gpt, provider: openai-compatible, model: m, base_url: "${address}", api_key: k, max_input_tokens: ${window} }
  - { name: rules, provider: offline, model: offline }
summarization: { model_name: rules }
memory: { enabled: false }
`;

/** The suite's model behind the protocol: it refuses as the vendor does. */
async function startProvider(model: ThreadUserOptions["model"]) {
  const server = createServer(async (incoming, outgoing) => {
    let body = "";
    for await (const piece of incoming.setEncoding("utf8")) body += piece;
    const { messages } = JSON.parse(body) as { readonly messages: readonly Said[] };
    const send = (status: number, answer: object) =>
      outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    try {
      const { text, usage } = model(messages.map(({ role, content }) => ({ role, text: content })));
      const { input, output } = usage;
      const choices = [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }];
      const counted = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
      send(200, { id: "c", object: "chat.completion", created: 0, model: "m", choices, usage: counted });
    } catch (error) {
      const { message } = error as Error;
      send(400, { error: { message, type: "invalid_request_error", code: "context_length_exceeded" } });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { address: `http://127.0.0.1:${port}/v1`, close };
}
