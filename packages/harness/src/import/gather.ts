/**
 * Messages that a dialect's own list writes apart, together again: the items of one answer of the Responses API. One is
 * held back until something comes that doesn't belong to it; each keeps its text.
 */
import { type Dialect, definitionOf } from "@palimpsest/core/internal/message";
import type { ImportedMessage } from "./conversation.ts";
import type { ThreadPiece } from "./piece.ts";

export interface Gatherer {
  /** What is finished now, in order. */
  add(piece: ThreadPiece): readonly ThreadPiece[];
  end(): readonly ThreadPiece[];
}

export function gatherer(dialect: Dialect): Gatherer {
  const { together } = definitionOf(dialect);
  if (together === undefined) return { add: (piece) => [piece], end: () => [] };
  let turn: ImportedMessage[] = [];
  let turnKey = "";
  const release = (): readonly ThreadPiece[] => {
    const held = turn;
    turn = [];
    return held.length === 0 ? [] : [{ kind: "message", key: turnKey, message: joined(held), of: held.length }];
  };
  return {
    add(piece) {
      if (piece.kind !== "message") return [...release(), piece];
      const { message, key } = piece;
      turnKey = key;
      const [first] = turn;
      const before = first !== undefined && together(first.value, message.value) ? [] : release();
      turn.push(message);
      return before;
    },
    end: release,
  };
}

function joined(turn: readonly ImportedMessage[]): ImportedMessage {
  const [first, ...rest] = turn;
  if (rest.length === 0) return first!;
  const reported = turn.findLast(({ usage }) => usage !== null) ?? first!;
  return {
    ...first!,
    body: `[${turn.map(({ body }) => body).join(",")}]`,
    value: turn.map(({ value }) => value) as never,
    model: reported.model,
    usage: reported.usage,
  };
}
