/** Between a gateway and a provider: keeps each request's bytes, and hands everything on as it is. */
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export interface Recorder {
  /** In the provider's place. */
  readonly url: string;
  readonly bodies: readonly Buffer[];
}

export async function recorder(t: TestContext, provider: { readonly url: string }): Promise<Recorder> {
  const bodies: Buffer[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const body = Buffer.concat(await incoming.toArray());
    bodies.push(body);
    const { method = "GET", url = "/", headers } = incoming;
    const onward = request(new URL(url, provider.url), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(outgoing);
    });
    onward.end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { pathname } = new URL(provider.url);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`, bodies };
}
