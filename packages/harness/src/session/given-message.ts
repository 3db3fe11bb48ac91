/** Messages as a loop gives them to its thread: checked at the boundary and made ready for the log. */
import { readMessage } from "@palimpsest/core/internal/message";
import type { MessageRecord, Origin } from "@palimpsest/core/log";
import type { Dialect, Role, Shape } from "@palimpsest/core/message";
import { bodyOf } from "./body.ts";
import { ThreadError } from "./thread-error.ts";

/** A message under an id of its own: given again, it is passed over. */
export interface IdentifiedMessage<M> {
  readonly message: M;
  /** Without one it is new each time. */
  readonly id?: string | undefined;
  /** By default what its role says; `aborted` for an answer that was cut off. */
  readonly origin?: Origin | undefined;
}

export type GivenMessage<M> = M | IdentifiedMessage<M>;

export interface ReadGiven {
  readonly id: string | null;
  readonly role: Role;
  readonly record: Pick<MessageRecord, "kind" | "dialect" | "origin" | "body">;
}

/** Throws a `ThreadError` that names the first message the shape can't read. */
export function readGiven<M extends object>(given: readonly GivenMessage<M>[], shape: Shape<M>): readonly ReadGiven[] {
  // Opening has checked that it is one of ours.
  const dialect = shape.dialect as Dialect;
  return given.map((one, index) => {
    const { message, id = null, origin } = isIdentified(one) ? one : { message: one };
    const body = bodyOf(message);
    const read = readMessage(dialect, JSON.parse(body));
    if (read.kind === "problem")
      throw new ThreadError("bad-message", `message ${index + 1} can't be appended: ${read.detail}`);
    const role = shape.role(read.message as unknown as M);
    return { id, role, record: { kind: "message", dialect, origin: origin ?? ORIGINS[role], body } };
  });
}

/** No dialect has a message inside a message. */
function isIdentified<M extends object>(given: GivenMessage<M>): given is IdentifiedMessage<M> {
  return "message" in given && typeof given.message === "object" && given.message !== null;
}

const ORIGINS = { user: "user", assistant: "model", tool: "tool", system: "injected" } as const;
