/** The gateway's `/v1` with evidence on, as a place where questions are asked. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway } from "@palimpsest/gateway";
import { startProviderServer } from "@palimpsest/testing";
import { threadDeps } from "palimpsest/session";
import { openSqlite } from "palimpsest/stores";
import { findText } from "../../packages/harness/src/recall/answers.ts";
import type { AskingPlace } from "../../packages/lab/src/eval/request.ts";

export function overGateway(): AskingPlace {
  return {
    name: "/v1/chat/completions",
    async open(history, window) {
      const folder = mkdtempSync(join(tmpdir(), "palimpsest-request-"));
      const provider = await startProviderServer({ window, respond: () => "Noted." });
      const config = {
        models: [
          {
            name: "m",
            provider: "openai-compatible",
            model: "m",
            base_url: provider.url,
            api_key: "k",
            max_input_tokens: window,
          },
        ],
        gateway: { evidence: true },
        memory: { enabled: false },
        title: { enabled: false },
      };
      const store = openSqlite({ path: join(folder, "log.db") });
      const gateway = createGateway({ store, config });
      const { url } = await gateway.listen({ port: 0 });
      const messages = history.messages.map(({ message }) => message);
      return {
        async ask(question) {
          const body = JSON.stringify({ model: "m", messages: [...messages, { role: "user", content: question }] });
          const headers = { "content-type": "application/json" };
          const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
          if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
          await answer.text();
          const { body: sent, tokens } = provider.requests.at(-1)!;
          const request = JSON.stringify(sent);
          const threadId = answer.headers.get("x-palimpsest-thread")!;
          const found = await findText(threadDeps(store), threadId, question, { tokens: 2_000 });
          return { request, withRecall: request + found, tokens };
        },
        async close() {
          await gateway.close();
          await store.close();
          await provider.close();
          rmSync(folder, { recursive: true });
        },
      };
    },
  };
}
