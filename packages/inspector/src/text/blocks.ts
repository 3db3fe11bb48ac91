/**
 * What a text is made of, as far as a page needs it: paragraphs, code between fences, and code within a line. Anything else
 * stays as it was written; nothing becomes markup. Pure.
 */

export type Block =
  | { readonly kind: "text"; readonly runs: readonly Run[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string };

interface Run {
  readonly kind: "plain" | "code";
  readonly text: string;
}

export function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  let fence: { readonly marks: string; readonly language: string } | null = null;
  const close = () => {
    const block = lines.join("\n");
    lines = [];
    if (fence !== null) blocks.push({ kind: "code", language: fence.language, text: block });
    else if (block.trim() !== "") blocks.push({ kind: "text", runs: runsOf(trimmed(block)) });
  };
  for (const line of text.split("\n")) {
    const marks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    const rest = marks === undefined ? "" : line.trim().slice(marks.length).trim();
    if (fence === null && marks !== undefined && !rest.includes("`")) {
      close();
      fence = { marks, language: rest };
    } else if (fence !== null && marks?.startsWith(fence.marks) && rest === "") {
      close();
      fence = null;
    } else lines.push(line);
  }
  // A fence that is still open: the rest of the answer is on its way.
  close();
  return blocks;
}

/** Empty lines around a block say nothing; spaces at its beginning may. */
function trimmed(block: string): string {
  const lines = block.split("\n");
  const first = lines.findIndex((line) => line.trim() !== "");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  return lines.slice(first, last + 1).join("\n");
}

/** Backticks without a partner on their line are signs like others. */
function runsOf(text: string): readonly Run[] {
  const runs: Run[] = [];
  const plain = (from: number, to: number) => {
    if (to > from) runs.push({ kind: "plain", text: text.slice(from, to) });
  };
  let at = 0;
  for (const match of text.matchAll(/`([^`\n]+)`/g)) {
    plain(at, match.index);
    runs.push({ kind: "code", text: match[1]! });
    at = match.index + match[0].length;
  }
  plain(at, text.length);
  return runs;
}
