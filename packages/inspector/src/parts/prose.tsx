/** A text as people read it: paragraphs and code. Everything in it is text; what would hide or turn it is shown as a sign. */
import { blocksOf } from "../text/blocks.ts";
import { visible } from "../text/format.ts";

export function Prose({ text }: { readonly text: string }) {
  return (
    <div class="prose">
      {blocksOf(visible(text)).map((block, index) =>
        block.kind === "code" ? (
          <pre key={index}>
            <code>{block.text}</code>
          </pre>
        ) : (
          <p key={index}>
            {block.runs.map((run, at) => (run.kind === "code" ? <code key={at}>{run.text}</code> : run.text))}
          </p>
        ),
      )}
    </div>
  );
}
