/**
 * Messages of one provider as messages of another. Total: text, calls, results and images always arrive. What only the
 * sender could use stays behind: foreign signatures, and blocks that steer its own protocol. Validity is not judged here.
 */

import type { DialectDefinition } from "./dialects.ts";
import { type Dialect, definitionOf, isDialect, type MessageOf, shapeOf } from "./dialects.ts";
import type { Part, Role, Shape } from "./shape.ts";

/** A message as a log stores it: JSON, and the dialect it is in. */
export interface StoredMessage {
  readonly dialect: Dialect;
  readonly body: string;
}

/** A stored message with the shape that reads it. */
export function readStored({ dialect, body }: StoredMessage): {
  readonly shape: Shape<object>;
  readonly message: object;
} {
  const message: unknown = JSON.parse(body);
  if (typeof message !== "object" || message === null) throw new TypeError(`a stored ${dialect} message is no object`);
  return { shape: shapeOf<object>(dialect), message };
}

/** A stored message as messages of this shape, converted where it is in another dialect. */
export function readStoredAs<M>(stored: StoredMessage, shape: Shape<M>): readonly M[] {
  const { message } = readStored(stored);
  // Only the name of a shape's dialect says which type its messages have.
  if (stored.dialect === shape.dialect) return [message as M];
  if (!isDialect(shape.dialect)) throw new TypeError(`${shape.dialect} is no dialect of a log`);
  return convertInto([message], definitionOf(stored.dialect), definitionOf(shape.dialect), shape);
}

export function convert<F extends Dialect, T extends Dialect>(
  messages: readonly MessageOf[F][],
  from: F,
  to: T,
): readonly MessageOf[T][] {
  if (isSame(messages, from, to)) return messages;
  const target = definitionOf(to);
  return convertInto(messages, definitionOf(from), target, target.shape);
}

function isSame<T extends Dialect>(
  _messages: readonly object[],
  from: Dialect,
  to: T,
): _messages is readonly MessageOf[T][] {
  return from === to;
}

function convertInto<F extends object, M>(
  messages: readonly F[],
  sender: DialectDefinition<F>,
  target: Pick<DialectDefinition<object>, "resultsIn" | "carries">,
  shape: Shape<M>,
): readonly M[] {
  return turnsOf(messages, sender, target).flatMap(({ role, parts }) =>
    shape.make(
      role,
      parts.flatMap((part) => adapt(part, sender, target)),
    ),
  );
}

interface ConvertedTurn {
  readonly role: Role;
  readonly parts: Part[];
}

/** One turn per message, but neighbouring tool messages as one: each provider splits their results in its own way. */
function turnsOf<M extends object>(
  messages: readonly M[],
  { shape }: DialectDefinition<M>,
  { resultsIn }: Pick<DialectDefinition<object>, "resultsIn">,
): readonly ConvertedTurn[] {
  const turns: ConvertedTurn[] = [];
  const names = new Map<string, string>();
  for (const message of messages) {
    const role = shape.role(message);
    const parts = shape.parts(message).map((part) => named(part, names));
    const last = turns.at(-1);
    const joins = last?.role === "tool" && (role === "tool" || role === resultsIn);
    if (joins) last.parts.push(...parts);
    else turns.push({ role, parts });
  }
  return turns;
}

/** Only some providers repeat the tool's name beside the result; elsewhere it is that of the latest call of the id. */
function named(part: Part, names: Map<string, string>): Part {
  if (part.kind === "call") names.set(part.id, part.name);
  return part.kind === "result" ? { ...part, name: names.get(part.id) ?? part.name } : part;
}

function adapt(
  part: Part,
  { control }: Pick<DialectDefinition<object>, "control">,
  { carries }: Pick<DialectDefinition<object>, "carries">,
): readonly Part[] {
  if (part.kind === "other") return control.includes(part.type) ? [] : [{ kind: "text", text: part.json }];
  if (part.kind !== "reasoning" || part.signedBy === null || carries(part.signedBy)) return [part];
  return part.text === "" ? [] : [{ ...part, signature: null, signedBy: null, redacted: false }];
}
