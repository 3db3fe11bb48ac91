/** The limit: a proxy that copies a request's bytes to one address and its answer's back, and does nothing else. */
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

const upstream = new URL(process.argv[2]!);
const agent = new Agent({ keepAlive: true });

const server = createServer((incoming, outgoing) => {
  const { method = "GET", url, headers } = incoming;
  const options = { host: upstream.hostname, port: upstream.port, path: url, method, headers, agent };
  const onward = request(options, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  incoming.pipe(onward);
});
server.listen(0, "127.0.0.1", () =>
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`),
);
