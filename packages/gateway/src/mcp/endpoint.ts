/** `/mcp`, the protocol over HTTP. Nothing is kept between two requests, so any instance answers the next one. */
import type { Home } from "palimpsest/internal/home";

export interface McpEndpointOptions {
  readonly version: string;
  readonly bodyBytes: number;
}

/** The protocol's own package is loaded when somebody first asks for it. */
export function createMcpEndpoint({ version, bodyBytes }: McpEndpointOptions) {
  return async (request: Request, home: Home): Promise<Response> => {
    const [{ createMcpHandler }, { createMcpServer }] = await Promise.all([
      import("@modelcontextprotocol/server"),
      import("./server.ts"),
    ]);
    const handler = createMcpHandler(() => createMcpServer(home, version), { maxRequestBodySize: bodyBytes });
    return handler.fetch(request);
  };
}
