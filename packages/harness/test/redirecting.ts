/** A server that answers every request with a redirect, and another one that notes what was sent after it. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export interface Redirecting {
  /** The address that is configured. */
  readonly url: string;
  /** The address that nobody configured. */
  readonly elsewhere: string;
  /** What arrived there: the keys and the body of each request. */
  readonly stolen: readonly string[];
}

export async function redirecting(t: TestContext, to: "elsewhere" | "itself" = "elsewhere"): Promise<Redirecting> {
  const stolen: string[] = [];
  const note: RequestListener = async (incoming, outgoing) => {
    let text = JSON.stringify(incoming.headers);
    for await (const piece of incoming.setEncoding("utf8")) text += piece;
    stolen.push(text);
    outgoing.writeHead(500).end();
  };
  const other = await serving(t, note);
  const url = await serving(t, (incoming, outgoing) => {
    if (incoming.url?.startsWith("/stolen") === true) return note(incoming, outgoing);
    incoming.resume();
    outgoing.writeHead(307, { location: `${to === "itself" ? "" : other}/stolen` }).end();
  });
  return { url, elsewhere: `${other}/stolen`, stolen };
}

/** A server of a test's own on loopback, closed with the test. Its address, without a path. */
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
