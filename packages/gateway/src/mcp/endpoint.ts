/** `/mcp`, the protocol over HTTP. Nothing is kept between two requests, so any instance answers the next one. */

import type { Home } from "palimpsest/internal/home";
import { type BodyLimits, readShallow } from "../http/input.ts";

export interface McpEndpointOptions extends BodyLimits {
  readonly version: string;
}

/** The protocol's package is loaded with the first request. */
export function createMcpEndpoint({ version, bodyBytes, bodyNesting }: McpEndpointOptions) {
  return async (request: Request, home: Home): Promise<Response> => {
    const [{ createMcpHandler }, { createMcpServer }] = await Promise.all([
      import("@modelcontextprotocol/server"),
      import("./server.ts"),
    ]);
    const handler = createMcpHandler(() => createMcpServer(home, version), { maxRequestBodySize: bodyBytes });
    const { url, method, headers, signal, body } = request;
    if (body === null) return handler.fetch(request);
    const bytes = await readShallow(body, headers.get("content-length"), { bodyBytes, bodyNesting });
    return handler.fetch(new Request(url, { method, headers, signal, body: new Uint8Array(bytes) }));
  };
}
