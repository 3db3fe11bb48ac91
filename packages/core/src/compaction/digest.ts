/**
 * What the open tool calls did, in a few lines each: it stands for them when even their clamped results don't fit. Every
 * call is named as long as there is room; failures first, because they decide what happens next.
 */
import type { Shape } from "../message/shape.ts";
import type { NumberedMessage } from "../summary/index.ts";
import { type Originals, whereMessage } from "../summary/render/originals.ts";
import { clip, oneLine } from "../text/clip.ts";
import { failingLines } from "../text/failing-lines.ts";

export function openGroupDigest<M>(
  entries: readonly NumberedMessage<M>[],
  shape: Shape<M>,
  {
    maxTokens,
    count,
    originals,
  }: { readonly maxTokens: number; readonly count: (text: string) => number; readonly originals: Originals },
): string {
  const group = openGroup(entries, shape);
  const last = entries.at(-1)?.seq ?? 0;
  const where = whereMessage(last, originals);
  const heading = `So far ${group.length} tool calls were made for this; the whole results are messages up to ${last}${where === "" ? "" : ` (${where})`}.`;
  let left = maxTokens - count(heading) - 16;
  const lines: string[] = [];
  for (const { line } of group.toSorted((a, b) => Number(b.failed) - Number(a.failed))) {
    const cost = count(`${line}\n`);
    if (cost > left) break;
    left -= cost;
    lines.push(line);
  }
  if (lines.length === 0) return clip(heading, Math.max(40, maxTokens * 3));
  const more = group.length - lines.length;
  return [heading, ...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join("\n");
}

interface Line {
  readonly line: string;
  readonly failed: boolean;
}

/** The calls of the last message that makes any, with what answered them. */
function openGroup<M>(entries: readonly NumberedMessage<M>[], shape: Shape<M>): Line[] {
  const at = entries.findLastIndex(({ message }) => shape.calls(message).length > 0);
  if (at < 0) return [];
  const results = entries
    .slice(at + 1)
    .flatMap(({ seq, message }) =>
      shape.parts(message).flatMap((part) => (part.kind === "result" ? [{ seq, part }] : [])),
    );
  return shape.parts(entries[at]!.message).flatMap((part): Line[] => {
    if (part.kind !== "call") return [];
    const answer = results.find((result) => result.part.id === part.id);
    const failed = answer?.part.isError === true || failingLines(answer?.part.text ?? "", 1).length > 0;
    const text = answer === undefined ? "no result" : oneLine(answer.part.text, 80);
    const where = answer === undefined ? "" : ` [${answer.seq}]`;
    return [{ line: `- ${part.name}(${oneLine(part.input, 60)}): ${text}${where}`, failed }];
  });
}
