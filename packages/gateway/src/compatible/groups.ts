/** What a program says of itself with each request: a name that all of its conversations share. It narrows, never decides. */
import type { Fields } from "./vendor.ts";

const HEADERS = [
  "x-claude-code-session-id",
  "x-session-affinity",
  "x-opencode-session",
  "x-session-id",
  "session-id",
  "session_id",
  "x-qwen-code-session-id",
  "x-grok-session-id",
  "x-openwebui-chat-id",
] as const;

export function groupOf(headers: Headers, body: Fields): string | null {
  for (const name of HEADERS) {
    const value = headers.get(name);
    if (value !== null && value !== "") return `${name}\n${value}`;
  }
  const { metadata } = body;
  const user = typeof metadata === "object" && metadata !== null ? (metadata as Fields)["user_id"] : null;
  const session = typeof user === "string" ? sessionIn(user) : null;
  return session === null ? null : `session\n${session}`;
}

/** As Claude Code writes it: today as JSON, earlier at the end of a name. */
function sessionIn(written: string): string | null {
  const named = /_session_(.+)$/s.exec(written)?.[1];
  if (named !== undefined || !written.startsWith("{")) return named ?? null;
  try {
    const { session_id: session } = JSON.parse(written) as Fields;
    return typeof session === "string" && session !== "" ? session : null;
  } catch {
    return null;
  }
}

/** A short question without tools, for a few words: a title, a topic, a probe. */
export function isSideCall(request: {
  readonly messages: readonly unknown[];
  readonly tools: readonly unknown[];
  readonly maxTokens: number | null;
  readonly answers: number;
}): boolean {
  const { messages, tools, maxTokens, answers } = request;
  return messages.length <= 2 && answers === 0 && tools.length === 0 && maxTokens !== null && maxTokens <= FEW_TOKENS;
}

const FEW_TOKENS = 1024;
