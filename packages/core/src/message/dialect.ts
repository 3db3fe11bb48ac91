/**
 * What a dialect says about itself, beside the functions of its shape. Everything that depends on whose messages they are
 * (reading, recognizing, converting, judging, counting) asks this table and knows no dialect by name.
 */
import type { RuleSet } from "./rules.ts";
import type { Fields } from "./schema.ts";
import type { Shape } from "./shape.ts";

export interface DialectDefinition<M extends object> {
  readonly shape: Shape<M>;
  /** What fits when nothing more is known about the provider. */
  readonly rules: RuleSet;
  /** Whether the shape can read the value; null when it can. */
  readonly check: (value: unknown) => MessageProblem | null;
  /** What an object has that only this dialect's messages have, in words; null when it could be anybody's. */
  readonly mark: (value: Fields) => string | null;
  /** A block of a message that passed `check` but nobody knows, in a sentence: a file with one is probably damaged. */
  readonly unknownBlock: (value: Fields) => string | null;
  /** A model of the family that speaks it, for counting while nobody has been asked. */
  readonly model: string;
  /** Whether a thought signed by this provider may travel in it, signature and all. */
  readonly carries: (signer: string | null) => boolean;
  /** Whether two neighbours in a flat list are one message, where the API's list is flatter than a conversation. */
  readonly together?: (first: M, second: M) => boolean;
  /** Whether the user's words after tool results stand in one message with them. */
  readonly resultsIn: "tool" | "user";
  /** Blocks that steer its own protocol: they mean nothing to anybody else. */
  readonly control: readonly string[];
}

export interface MessageProblem {
  readonly problem: "not-an-object" | "unknown-role" | "bad-content" | "bad-block" | "bad-field";
  /** A sentence that says where, and what was expected. */
  readonly detail: string;
}
