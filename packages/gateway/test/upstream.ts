/** A provider that says what a test tells it to say, when it tells it: one handle for each request it gets. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export interface Upstream {
  /** For `config.yaml`. */
  readonly config: string;
  /** The next request, once it is there. */
  next(): Promise<Asked>;
}

export interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  say(text: string): void;
  call(name: string, input: object): void;
  end(): void;
  refuse(status: number, message: string): void;
  /** The gateway has given up on it. */
  readonly closed: Promise<unknown>;
}

export async function upstream(t: TestContext): Promise<Upstream> {
  const arrived: Asked[] = [];
  const waiting: ((asked: Asked) => void)[] = [];
  const server = createServer(async (incoming, outgoing) => {
    let body = "";
    for await (const piece of incoming.setEncoding("utf8")) body += piece;
    const { messages, stream = false } = JSON.parse(body) as Pick<Asked, "messages"> & { stream?: boolean };
    const asked: Asked = { ...(stream ? answerOn : wholeOn)(outgoing), messages, headers: incoming.headers };
    const taker = waiting.shift();
    if (taker === undefined) arrived.push(asked);
    else taker(asked);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    config: configFor(`http://127.0.0.1:${port}/v1`),
    next() {
      const asked = arrived.shift();
      if (asked !== undefined) return Promise.resolve(asked);
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}

/** Nothing but runs asks the model. */
export function configFor(address: string): string {
  return `
models:
  - { name: small, provider: openai-compatible, model: m, base_url: "${address}", api_key: operators-own, max_input_tokens: 100000 }
title: { enabled: false }
memory: { enabled: false }
`;
}

/** For who doesn't ask for a stream, as memory does. */
function wholeOn(outgoing: ServerResponse): Omit<Asked, "messages" | "headers"> {
  let content = "";
  return {
    ...answerOn(outgoing),
    say: (text) => {
      content += text;
    },
    end() {
      const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
      outgoing.setHeader("content-type", "application/json");
      outgoing.end(JSON.stringify({ id: "c", created: 0, model: "m", choices }));
    },
  };
}

function answerOn(outgoing: ServerResponse): Omit<Asked, "messages" | "headers"> {
  let finish = "stop";
  let calls = 0;
  const send = (delta: object, finishReason: string | null = null) => {
    if (!outgoing.headersSent) outgoing.writeHead(200, { "content-type": "text/event-stream" });
    const choice = { index: 0, delta, finish_reason: finishReason };
    outgoing.write(`data: ${JSON.stringify({ id: "c", created: 0, model: "m", choices: [choice] })}\n\n`);
  };
  return {
    closed: once(outgoing, "close"),
    say: (content) => send({ role: "assistant", content }),
    call(name, input) {
      const made = { index: calls, id: `call_${calls}_${name}`, type: "function" };
      send({ role: "assistant", tool_calls: [{ ...made, function: { name, arguments: JSON.stringify(input) } }] });
      calls += 1;
      finish = "tool_calls";
    },
    refuse(status, message) {
      outgoing.writeHead(status, { "content-type": "application/json" });
      outgoing.end(JSON.stringify({ error: { message } }));
    },
    end() {
      send({}, finish);
      outgoing.end("data: [DONE]\n\n");
    },
  };
}
