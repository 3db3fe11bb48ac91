/** What a tool answers with: text for a model and, where it is a document, the document. A failure is an answer too: the model reads it and goes on. */
import type { CallToolResult } from "@modelcontextprotocol/server";

export function told(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

/** The document of the route of the same name. */
export function shown(document: object): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(document) }], structuredContent: { ...document } };
}

export function failed(text: string): CallToolResult {
  return { ...told(text), isError: true };
}
