/**
 * A text as people read it: Markdown, set. Everything in it is text, so no HTML of it runs; what would hide or turn it is shown
 * as a sign. Nothing is fetched for it but files of the thread's own: a picture of another site is a link to it.
 */
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { visible } from "../text/format.ts";
import { type Block, markdownOf } from "../text/markdown.ts";
import type { Inline } from "../text/markdown-inline.ts";
import { artifactAddress, isPicture } from "../text/thread-file.ts";

interface ProseProps {
  readonly text: string;
  /** The thread whose files it may show; without one none are. */
  readonly threadId?: string | undefined;
}

export function Prose({ text, threadId }: ProseProps) {
  // The same text is the same elements: whatever else changes, a long one isn't drawn again.
  return useMemo(() => <div class="prose">{blocksFor(markdownOf(visible(text)), threadId)}</div>, [text, threadId]);
}

/** Levels begin under the page's own and never jump, so that the outline of the page stays whole. */
function blocksFor(blocks: readonly Block[], threadId: string | undefined) {
  let level = 1;
  return blocks.map((block, index) => {
    if (block.kind === "heading") level = Math.min(block.level + 1, level + 1, 6);
    return <BlockElement key={index} block={block} level={level} threadId={threadId} />;
  });
}

interface ProseBlockProps {
  readonly block: Block;
  readonly level: number;
  readonly threadId: string | undefined;
}

function BlockElement({ block, level, threadId }: ProseBlockProps) {
  switch (block.kind) {
    case "paragraph":
      return <p dir="auto">{inlinesFor(block.inlines, threadId)}</p>;
    case "heading": {
      const Heading = `h${level}` as "h2";
      return (
        <Heading class={`head head-${block.level}`} dir="auto">
          {inlinesFor(block.inlines, threadId)}
        </Heading>
      );
    }
    case "code":
      return <Code language={block.language} text={block.text} />;
    case "quote":
      return <blockquote>{nested(block.blocks, threadId)}</blockquote>;
    case "list":
      return <List block={block} threadId={threadId} />;
    case "table":
      return <Table block={block} threadId={threadId} />;
    case "rule":
      return <hr />;
  }
}

/** Headings within lists and quotes are words in bold: they are no part of the outline. */
function nested(blocks: readonly Block[], threadId: string | undefined) {
  return blocks.map((block, index) =>
    block.kind === "heading" ? (
      <p key={index} class="head" dir="auto">
        {inlinesFor(block.inlines, threadId)}
      </p>
    ) : (
      <BlockElement key={index} block={block} level={1} threadId={threadId} />
    ),
  );
}

interface ProseListProps {
  readonly block: Extract<Block, { kind: "list" }>;
  readonly threadId: string | undefined;
}

function List({ block: { start, items }, threadId }: ProseListProps) {
  const rows = items.map(({ done, blocks }, index) => (
    <li key={index} class={done === null ? "" : "task"} dir="auto">
      {done !== null && <input type="checkbox" checked={done} disabled aria-label={done ? "done" : "open"} />}
      <div class="prose">{nested(blocks, threadId)}</div>
    </li>
  ));
  return start === null ? <ul>{rows}</ul> : <ol start={start}>{rows}</ol>;
}

interface ProseTableProps {
  readonly block: Extract<Block, { kind: "table" }>;
  readonly threadId: string | undefined;
}

function Table({ block: { head, rows }, threadId }: ProseTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by Tab
    <section class="table-box" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map(({ align, inlines }, index) => (
              <th key={index} scope="col" class={align ?? ""}>
                {inlinesFor(inlines, threadId)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map(({ align, inlines }, index) => (
                <td key={index} class={align ?? ""} dir="auto">
                  {inlinesFor(inlines, threadId)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Code({ language, text }: { readonly language: string; readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <figure class="code-box">
      <figcaption class="row dim small">
        <span class="cut">{language === "" ? "code" : language}</span>
        {navigator.clipboard !== undefined && (
          <button type="button" class="button plain push" onClick={() => void copy()}>
            {isCopied ? "Copied" : "Copy"}
          </button>
        )}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by Tab */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}

function inlinesFor(inlines: readonly Inline[], threadId: string | undefined): ComponentChildren {
  return inlines.map((inline, index) => <InlineElement key={index} inline={inline} threadId={threadId} />);
}

function InlineElement({ inline, threadId }: { readonly inline: Inline; readonly threadId: string | undefined }) {
  switch (inline.kind) {
    case "text":
      return <>{inline.text}</>;
    case "code":
      return <code>{inline.text}</code>;
    case "strong":
      return <strong>{inlinesFor(inline.inlines, threadId)}</strong>;
    case "emphasis":
      return <em>{inlinesFor(inline.inlines, threadId)}</em>;
    case "strike":
      return <s>{inlinesFor(inline.inlines, threadId)}</s>;
    case "link":
      return <Outward address={inline.address}>{inlinesFor(inline.inlines, threadId)}</Outward>;
    case "picture":
      return <ProsePicture address={inline.address} alt={inline.alt} threadId={threadId} />;
  }
}

function Outward({ address, children }: { readonly address: string; readonly children: ComponentChildren }) {
  return (
    <a class="link" href={address} title={address} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

interface ProsePictureProps {
  readonly address: string;
  readonly alt: string;
  readonly threadId: string | undefined;
}

function ProsePicture({ address, alt, threadId }: ProsePictureProps) {
  const own = /^data:image\/(?:png|jpeg|gif|webp);/.test(address) ? address : ownFile(address, threadId);
  if (own !== null) return <Picture address={own} alt={alt === "" ? "Picture without a description" : alt} />;
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return <>[picture: {alt || address}]</>;
  return (
    <Outward address={address}>
      Picture{alt !== "" && `: ${alt}`} (opens {new URL(address).host})
    </Outward>
  );
}

function ownFile(address: string, threadId: string | undefined): string | null {
  return threadId === undefined || !isPicture(address) ? null : artifactAddress(threadId, address);
}

/** One that can't be shown is told of. */
export function Picture({ address, alt }: { readonly address: string; readonly alt: string }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <span class="dim">[{alt}: can't be shown]</span>;
  return <img class="picture" src={address} alt={alt} loading="lazy" onError={() => setBroken(true)} />;
}
