/** A server of a test's own on loopback, closed with the test; and one that notes what it gets. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** Its address, without a path. */
export async function serving(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface Noted {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Answers all alike, or by what it got. */
export async function noting(
  t: TestContext,
  answer: Answer | ((noted: Noted) => Answer | Promise<Answer>) = {},
): Promise<{ readonly url: string; readonly seen: readonly Noted[] }> {
  const seen: Noted[] = [];
  const url = await serving(t, async (incoming, outgoing) => {
    let body = "";
    for await (const piece of incoming.setEncoding("utf8")) body += piece;
    const noted = { method: incoming.method ?? "", url: incoming.url ?? "", headers: incoming.headers, body };
    seen.push(noted);
    const {
      status = 200,
      headers = {},
      body: text = "{}",
    } = typeof answer === "function" ? await answer(noted) : answer;
    outgoing.writeHead(status, { "content-type": "application/json", ...headers });
    outgoing.end(text);
  });
  return { url, seen };
}
