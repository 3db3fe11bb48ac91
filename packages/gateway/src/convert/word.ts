/** A Word file as Markdown: `mammoth` makes a web page of it, by its styles; pictures are left out. */
import { webPageMarkdown } from "./web-page.ts";
import { assertUnpacks } from "./zip.ts";

export async function wordMarkdown(bytes: Buffer): Promise<AsyncIterable<string>> {
  assertUnpacks(bytes);
  const { default: mammoth } = await import("mammoth");
  const noPicture = mammoth.images.imgElement(async () => ({ src: "" }));
  const { value } = await mammoth.convertToHtml({ buffer: bytes }, { convertImage: noPicture });
  return webPageMarkdown(value);
}
