/** A PDF as Markdown: the words of each page, line by line. Pictures of words aren't read. */

export async function* pdfMarkdown(bytes: Buffer): AsyncGenerator<string> {
  const { getDocumentProxy } = await import("unpdf");
  const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    let text = "";
    for (const item of items) if ("str" in item) text += item.hasEOL ? `${item.str}\n` : item.str;
    if (text.trim() !== "") yield `\n\n## Page ${number}\n\n${text}`;
    page.cleanup();
  }
}
