/**
 * Messages as the text a summarizer reads: one block per piece, each headed by its message number and role. Content can't
 * forge a header or close the envelope: what looks like either is escaped with a backslash, nothing else is changed.
 */
import type { Part, Shape } from "../../message/shape.ts";
import type { NumberedMessage } from "../ledger/ledger.ts";
import { mediaName } from "../render/media-name.ts";

export interface Block {
  readonly seq: number;
  /** "user", "assistant", "assistant calls bash", "result of bash". */
  readonly label: string;
  readonly text: string;
  /** Words are always read whole; a tool's input and output may be digested. */
  readonly kind: "words" | "tool";
}

export function transcriptBlocks<M>(entries: readonly NumberedMessage<M>[], shape: Shape<M>): Block[] {
  const names = new Map<string, string>();
  const blocks: Block[] = [];
  for (const { seq, message } of entries) {
    const role = shape.role(message);
    for (const part of shape.parts(message)) {
      if (part.kind === "call") names.set(part.id, part.name);
      const block = blockOf(part, role === "tool" ? "user" : role, names);
      if (block !== null && block.text.trim() !== "") blocks.push({ seq, ...block });
    }
  }
  return blocks;
}

export function renderBlock(block: Block): string {
  return `[#${block.seq} ${block.label}]\n${escapeContent(block.text)}\n`;
}

/** The whole transcript of some messages, for callers that need no chunks. */
export function renderTranscript<M>(entries: readonly NumberedMessage<M>[], shape: Shape<M>): string {
  return transcriptBlocks(entries, shape).map(renderBlock).join("");
}

/** Wraps a transcript so that its end can't be forged from inside. */
export function envelope(transcript: string): string {
  return `<transcript>\n${transcript.endsWith("\n") ? transcript : `${transcript}\n`}</transcript>`;
}

function escapeContent(text: string): string {
  return text
    .replaceAll(/^([ \t]*\\*)(?=\[#\d)/gm, (marks) => `${marks}\\`)
    .replaceAll(/<(?=\\*\/?transcript\b)/gi, () => "<\\");
}

function blockOf(part: Part, role: string, names: ReadonlyMap<string, string>): Omit<Block, "seq"> | null {
  switch (part.kind) {
    case "text":
      return { label: role, text: part.text, kind: "words" };
    case "call":
      return { label: `${role} calls ${plain(part.name)}`, text: part.input, kind: "tool" };
    case "result": {
      const images = part.images.map((image) => `\n(${mediaName(image)}; not shown)`).join("");
      const name = plain(part.name ?? names.get(part.id) ?? "a tool");
      return { label: `${part.isError ? "error" : "result"} of ${name}`, text: `${part.text}${images}`, kind: "tool" };
    }
    case "image":
    case "file":
      return { label: role, text: `(${mediaName(part)}; not shown)`, kind: "words" };
    // Thinking led to the words beside it, and opaque blocks say nothing to a reader.
    case "reasoning":
    case "other":
      return null;
  }
}

function plain(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}_.:/ -]/gu, "").slice(0, 80);
}

export function focusLine(focus: string | null | undefined): string {
  const wanted = (focus ?? "").trim();
  return wanted === "" ? "" : `\n\nPay special attention to: ${wanted}`;
}
