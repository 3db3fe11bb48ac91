/** The messages of a request, checked one by one, except those that were before. */
import { readMessage } from "@palimpsest/core/internal/message";
import type { Dialect, MessageOf } from "@palimpsest/core/message";

/** From one place of the list to before another. */
export interface Checked {
  readonly from: number;
  readonly to: number;
}

export type ReadItems<M> =
  | { readonly kind: "items"; readonly items: readonly M[] }
  | { readonly kind: "problem"; readonly index: number; readonly detail: string };

export function readItems<D extends Dialect>(
  dialect: D,
  items: readonly unknown[],
  checked: Checked | null,
): ReadItems<MessageOf[D]> {
  for (let index = 0; index < items.length; index += 1) {
    if (index === checked?.from) index = checked.to;
    if (index >= items.length) break;
    const read = readMessage(dialect, items[index]);
    if (read.kind === "problem") return { kind: "problem", index, detail: read.detail };
  }
  return { kind: "items", items: items as readonly MessageOf[D][] };
}
