/** A server on loopback that notes what it gets. */
import type { IncomingHttpHeaders } from "node:http";
import type { TestContext } from "node:test";
import { serving } from "../../harness/test/redirecting.ts";

export { serving };

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
