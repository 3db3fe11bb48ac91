/** A provider that answers every question with its own words, in pieces, and finds in a conversation what is to be remembered. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

export interface ChaosProvider {
  readonly url: string;
  stop(): void;
}

export async function chaosProvider(): Promise<ChaosProvider> {
  const server = createServer(async (incoming, outgoing) => {
    let body = "";
    for await (const piece of incoming.setEncoding("utf8")) body += piece;
    const { messages, stream = false } = JSON.parse(body) as { messages: { content: unknown }[]; stream?: boolean };
    const text = answerTo(messages);
    if (!stream) {
      const message = { role: "assistant", content: text };
      const choices = [{ index: 0, message, finish_reason: "stop" }];
      outgoing.setHeader("content-type", "application/json");
      return void outgoing.end(JSON.stringify({ id: "c", created: 0, model: "m", choices, usage: USAGE }));
    }
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    const send = (delta: object, finish: string | null) => {
      const choices = [{ index: 0, delta, finish_reason: finish }];
      outgoing.write(`data: ${JSON.stringify({ id: "c", created: 0, model: "m", choices })}\n\n`);
    };
    for (const word of text.split(/(?<= )/)) {
      send({ role: "assistant", content: word }, null);
      await pause(20);
    }
    send({}, "stop");
    outgoing.end("data: [DONE]\n\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

function answerTo(messages: readonly { readonly content: unknown }[]): string {
  const asked = JSON.stringify(messages.at(-1)?.content);
  if (!asked.includes("long-term memory of an assistant")) return "I have noted that down for you.";
  const words =
    typeof messages.at(-1)?.content === "string" ? String(messages.at(-1)?.content) : textOf(messages.at(-1));
  const additions = [...words.matchAll(/\[#(\d+) user\]\n([^\n]*)/g)].flatMap(([, seq, said]) =>
    (said!.match(/b[0-9a-f]{12}/g) ?? []).map((book) => ({
      content: `User owns the book ${book}`,
      category: "context",
      confidence: 0.95,
      quote: said,
      seqs: [Number(seq)],
      durable: true,
      about: "user",
    })),
  );
  return JSON.stringify({ additions });
}

function textOf(message: { readonly content: unknown } | undefined): string {
  const parts = message?.content as readonly { readonly text?: string }[];
  return parts.map(({ text = "" }) => text).join("");
}
