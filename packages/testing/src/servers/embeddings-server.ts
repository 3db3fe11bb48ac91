/** An embeddings endpoint as OpenAI's, as a real HTTP server on this machine. It knows one word; every text is on record. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface EmbeddingsServer {
  readonly url: string;
  /** Every text that was asked for, in order. */
  readonly texts: string[];
  /** From now on every request is refused with this status; null: none is. */
  fail(status: number | null): void;
  /** The next request for a text that holds these words. */
  asked(words: string): Promise<void>;
  close(): Promise<void>;
}

/** Texts that hold the word point one way, all others another. A text counts 5 tokens. */
export async function startEmbeddingsServer(word: string): Promise<EmbeddingsServer> {
  const texts: string[] = [];
  const waiting: { readonly words: string; readonly resolve: () => void }[] = [];
  let status: number | null = null;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string[] };
    texts.push(...input);
    const data = input.map((text, index) => ({ index, embedding: text.includes(word) ? [0.1, 1] : [1, 0.1] }));
    const tokens = input.length * TOKENS;
    const body =
      status === null
        ? { object: "list", data, model: "m", usage: { prompt_tokens: tokens, total_tokens: tokens } }
        : { error: { message: `no, ${request.headers.authorization ?? "nobody"}`, type: "refused" } };
    response.writeHead(status ?? 200, { "content-type": "application/json" }).end(JSON.stringify(body));
    for (const { words, resolve } of waiting) if (input.some((text) => text.includes(words))) resolve();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    texts,
    fail(next) {
      status = next;
    },
    asked: (words) => new Promise((resolve) => waiting.push({ words, resolve })),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const TOKENS = 5;
