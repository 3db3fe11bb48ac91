/**
 * A request's messages, whatever their protocol: who said what, which rules they break, how many tokens they are. The
 * message type is hidden here, so that the server judges all protocols alike.
 */
import type { Part, Role, RuleSet, Shape, Violation } from "@palimpsest/core/internal/message";
import { forRequest, violations } from "@palimpsest/core/internal/message";
import { type CountText, createMeter } from "@palimpsest/core/internal/tokens";

export interface Turn {
  readonly role: Role;
  readonly parts: readonly Part[];
}

/** A piece of the prompt in its order: the tools first, then each message. */
interface TurnPiece {
  /** The same text means the same piece, for the prompt cache. */
  readonly key: string;
  readonly tokens: number;
}

export interface ProviderConversation {
  readonly turns: readonly Turn[];
  /** As the protocol has them; responses items as chat messages. */
  readonly messages: readonly unknown[];
  violations(): readonly Violation[];
  measure(count: CountText): readonly TurnPiece[];
}

export function conversationOf<M extends object>(
  messages: readonly M[],
  given: { readonly shape: Shape<M>; readonly rules: RuleSet; readonly tools: readonly unknown[] },
): ProviderConversation {
  const { shape, rules, tools } = given;
  return {
    messages,
    turns: messages.map((message) => ({ role: shape.role(message), parts: shape.parts(message) })),
    violations: () => violations(messages, shape, forRequest(rules)),
    measure(count) {
      const meter = createMeter(shape, { counter: count });
      const toolPiece = { key: JSON.stringify(tools), tokens: meter.tools(tools) };
      return [
        toolPiece,
        ...messages.map((message) => ({ key: JSON.stringify(message), tokens: meter.message(message) })),
      ];
    },
  };
}

/** Tokens of the pieces that both prompts begin with. */
export function sharedTokens(prompt: readonly TurnPiece[], earlier: readonly TurnPiece[]): number {
  let tokens = 0;
  for (const [index, piece] of prompt.entries()) {
    if (earlier[index]?.key !== piece.key) break;
    tokens += piece.tokens;
  }
  return tokens;
}

export type { TurnPiece };
