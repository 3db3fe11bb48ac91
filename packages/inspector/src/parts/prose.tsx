/** A text as people read it: paragraphs and code. Everything in it is text; what would hide or turn it is shown as a sign. */
import { useMemo } from "preact/hooks";
import { type Block, blocksOf } from "../text/blocks.ts";
import { visible } from "../text/format.ts";

export function Prose({ text }: { readonly text: string }) {
  // The same text is the same elements: whatever else changes, a long one isn't drawn again.
  return useMemo(() => <div class="prose">{blocksOf(visible(text)).map(elementOf)}</div>, [text]);
}

function elementOf(block: Block, index: number) {
  if (block.kind === "code")
    return (
      <pre key={index}>
        <code>{block.text}</code>
      </pre>
    );
  return (
    <p key={index}>
      {block.runs.map((run, at) => (run.kind === "code" ? <code key={at}>{run.text}</code> : run.text))}
    </p>
  );
}
