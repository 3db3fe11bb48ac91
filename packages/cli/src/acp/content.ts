/** What an editor sends as a prompt, as a message of the AI SDK, and a message of the log as what an editor shows. Pure. */
import type { ContentBlock, McpServer, SessionUpdate } from "@agentclientprotocol/sdk";
import { jsonOr, type Part, type Role } from "@palimpsest/core/internal/message";
import type { UserModelMessage } from "ai";
import type { ConfigFile } from "palimpsest/home";

type UserContent = Exclude<UserModelMessage["content"], string>;

/** A link is named, not opened: the agent reads it with its own tools if it may. */
export function userMessage(blocks: readonly ContentBlock[]): UserModelMessage {
  return { role: "user", content: blocks.map(partOf) };
}

function partOf(block: ContentBlock): UserContent[number] {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
    case "audio":
      return { type: "file", mediaType: block.mimeType, data: block.data };
    case "resource_link":
      return { type: "text", text: `[${block.name}](${block.uri})` };
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return { type: "text", text: `${resource.uri}:\n${resource.text}` };
      return { type: "file", mediaType: resource.mimeType ?? "application/octet-stream", data: resource.blob };
    }
  }
}

/** The words of a prompt, to see whether it is a command. */
export function wordsOf(blocks: readonly ContentBlock[]): string {
  return blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** A message that was said before, as it would have been shown while it was. */
export function replayed(role: Role, parts: readonly Part[]): readonly SessionUpdate[] {
  return parts.flatMap((part): SessionUpdate[] => {
    switch (part.kind) {
      case "text":
        if (role !== "user" && role !== "assistant") return [];
        return [
          { sessionUpdate: role === "user" ? "user_message_chunk" : "agent_message_chunk", content: text(part.text) },
        ];
      case "reasoning":
        return part.text === "" ? [] : [{ sessionUpdate: "agent_thought_chunk", content: text(part.text) }];
      case "call":
        return [
          {
            sessionUpdate: "tool_call",
            toolCallId: part.id,
            title: part.name,
            name: part.name,
            status: "in_progress",
            // One that the model wrote wrongly is shown as it was written.
            rawInput: jsonOr(part.input, part.input),
          },
        ];
      case "result":
        return [
          {
            sessionUpdate: "tool_call_update",
            toolCallId: part.id,
            status: part.isError ? "failed" : "completed",
            content: [{ type: "content", content: text(part.text) }],
          },
        ];
      default:
        return [];
    }
  });
}

export function text(words: string): ContentBlock {
  return { type: "text", text: words };
}

/* The servers of the Model Context Protocol that an editor brings, as our configuration writes them. */

type Servers = ConfigFile["mcp_servers"];

const USUAL = { enabled: true, tools: null, approval: "writes", timeout_seconds: 60 } as const;

export function editorServers(given: readonly McpServer[], warn: (text: string) => void): Servers {
  const servers: Servers = {};
  for (const one of given) {
    const name = one.name.replaceAll(/[^A-Za-z0-9_-]/g, "-");
    const settings = settingsOf(one);
    if (settings === null) warn(`the MCP server ${JSON.stringify(one.name)} is left out: ${KINDS}`);
    else servers[name] = settings;
  }
  return servers;
}

const KINDS = "a program or an HTTP address can be used, nothing else";

function settingsOf(server: McpServer): Servers[string] | null {
  if ("command" in server) {
    const { command, args, env } = server;
    return { ...USUAL, command, args, env: pairs(env) };
  }
  return "type" in server && server.type === "http"
    ? { ...USUAL, url: server.url, headers: pairs(server.headers) }
    : null;
}

function pairs(list: readonly { readonly name: string; readonly value: string }[]): Record<string, string> {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}
