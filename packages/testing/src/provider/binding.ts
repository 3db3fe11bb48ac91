/**
 * Thinking that is bound to its conversation, as newer Claude models have it: a signature says which system prompt, tools
 * and messages it was made under, and is refused behind any other. Cache marks don't count. Stateless, like the real one.
 */
import { createHash } from "node:crypto";
import type { AnthropicMessage } from "@palimpsest/core/internal/message";
import type { Failure } from "./protocol.ts";

interface Request {
  readonly system?: unknown;
  readonly tools?: unknown;
  readonly messages?: unknown;
}

/** What the provider signs the thinking of its answer with. */
export function boundSignature(body: Request, id: string): string {
  const messages = messagesOf(body);
  return `bound.${prefixes(body, messages).at(-1)!}.${id}`;
}

/** The first thought that was made in another conversation than the one it is sent in. */
export function misplacedThought(body: Request): Failure | null {
  const messages = messagesOf(body);
  const before = prefixes(body, messages);
  for (const [index, { content }] of messages.entries()) {
    for (const block of typeof content === "string" ? [] : content) {
      const signature =
        block.type === "thinking" ? block.signature : block.type === "redacted_thinking" ? block.data : undefined;
      if (signature === undefined || signature.split(".")[1] === before[index]) continue;
      const detail = `Invalid \`signature\` in \`${block.type}\` block. The block is bound to a different conversation`;
      return { kind: "rules", index, detail };
    }
  }
  return null;
}

const messagesOf = (body: Request): readonly AnthropicMessage[] => body.messages as readonly AnthropicMessage[];

/** For each message the hash of all that stands before it, and at the end the whole request's. */
function prefixes({ system, tools }: Request, messages: readonly AnthropicMessage[]): readonly string[] {
  const found = [sha256(unmarked([system ?? null, tools ?? null]))];
  for (const message of messages) found.push(sha256(`${found.at(-1)!}\n${unmarked(message)}`));
  return found;
}

const unmarked = (value: unknown): string =>
  JSON.stringify(value, (key, inner: unknown) => (key === "cache_control" ? undefined : inner));

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
