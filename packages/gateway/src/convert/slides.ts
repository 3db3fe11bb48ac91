/** A PowerPoint file as Markdown: the words of each slide, in order. No library in use here reads these. */
import { tokens } from "./markup.ts";
import { readZip } from "./zip.ts";

export function* slidesMarkdown(bytes: Buffer): Generator<string> {
  const zip = readZip(bytes);
  const number = (name: string) => Number(SLIDE.exec(name)?.[1]);
  const slides = zip.names.filter((name) => SLIDE.test(name)).toSorted((a, b) => number(a) - number(b));
  if (slides.length === 0) throw new Error("it has no slides");
  for (const [index, name] of slides.entries()) {
    yield `\n\n## Slide ${index + 1}\n\n`;
    yield* paragraphs(zip.text(name));
  }
}

const SLIDE = /^ppt\/slides\/slide(\d{1,6})\.xml$/;

function* paragraphs(slide: string): Generator<string> {
  let isText = false;
  let paragraph = "";
  for (const token of tokens(slide)) {
    if (token.kind === "text") {
      if (isText) paragraph += token.text;
    } else if (token.name === "a:t") isText = token.kind === "open" && !token.isClosed;
    else if (token.name === "a:p" && token.kind === "close") {
      if (paragraph.trim() !== "") yield `${paragraph}\n\n`;
      paragraph = "";
    }
  }
}
