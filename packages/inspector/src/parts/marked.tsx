/** A text with some of it marked. */
import { visible } from "../text/format.ts";

interface MarkedProps {
  readonly text: string;
  /** From one place in the text up to another, in order. */
  readonly marks: readonly (readonly [from: number, to: number])[];
}

export function Marked({ text, marks }: MarkedProps) {
  const pieces = marks.map(([from, to], index) => ({
    before: text.slice(marks[index - 1]?.[1] ?? 0, from),
    word: text.slice(from, to),
    from,
  }));
  return (
    <>
      {pieces.map(({ before, word, from }) => (
        <span key={from}>
          {visible(before)}
          <mark>{visible(word)}</mark>
        </span>
      ))}
      {visible(text.slice(marks.at(-1)?.[1] ?? 0))}
    </>
  );
}
