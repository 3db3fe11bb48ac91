/** What a server answers, as a model is shown it: text as it is, images as images, the rest by what it says of itself. */

/** A block of an answer, as far as it is read here. */
export interface AnswerBlock {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
  readonly uri?: string;
  readonly name?: string;
  readonly resource?: { readonly uri?: string; readonly text?: string; readonly mimeType?: string };
}

export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "file";
      readonly mediaType: string;
      readonly data: { readonly type: "data"; readonly data: string };
    };

/** `structured`: shown only where there is no other text, since it repeats the text by the protocol's rule. */
export function modelParts(blocks: readonly AnswerBlock[], structured?: unknown): readonly ModelPart[] {
  const parts = blocks.map(partOf);
  if (parts.length > 0 || structured === undefined) return parts;
  return [{ type: "text", text: JSON.stringify(structured) }];
}

export function textOf(blocks: readonly AnswerBlock[]): string {
  return modelParts(blocks)
    .map((part) => (part.type === "text" ? part.text : `[${part.mediaType}]`))
    .join("\n");
}

function partOf(block: AnswerBlock): ModelPart {
  const { type, data, mimeType = "application/octet-stream" } = block;
  if (type === "text") return { type: "text", text: block.text ?? "" };
  if (type === "image" && data !== undefined)
    return { type: "file", mediaType: mimeType, data: { type: "data", data } };
  return { type: "text", text: described(block) };
}

function described({ type, uri, name, mimeType, resource }: AnswerBlock): string {
  if (resource?.text !== undefined) return resource.text;
  const what = [name, resource?.uri ?? uri, resource?.mimeType ?? mimeType].filter(Boolean).join(" ");
  return `[${type}${what === "" ? "" : ` ${what}`}]`;
}
