/**
 * A summary's text as sections of items, each with the records it rests on. The text is what the model reads; numbers in
 * brackets at an item's start or end are records. What can't be read so stays a plain paragraph. Pure.
 */
export interface ShownSection {
  /** Null: what stands before the first heading. */
  readonly title: string | null;
  readonly items: readonly ShownItem[];
}

interface ShownItem {
  readonly text: string;
  readonly seqs: readonly number[];
}

export function summarySections(text: string): readonly ShownSection[] {
  let isFenced = false;
  const sections: { title: string | null; items: { lines: string[] }[] }[] = [{ title: null, items: [] }];
  for (const line of text.split("\n")) {
    const section = sections.at(-1)!;
    const isFence = line === "~~~";
    if ((isFence || isFenced) && section.items.length === 0) section.items.push({ lines: [] });
    if (isFence || isFenced) section.items.at(-1)!.lines.push(line);
    if (isFence) isFenced = !isFenced;
    if (isFence || isFenced) continue;
    if (line.startsWith("## ")) sections.push({ title: line.slice(3).trim(), items: [] });
    else if (line.startsWith("- ")) section.items.push({ lines: [line.slice(2)] });
    else if (line.trim() === "") section.items.push({ lines: [] });
    else if (section.items.length === 0) section.items.push({ lines: [line] });
    else section.items.at(-1)!.lines.push(line);
  }
  return sections
    .map(({ title, items }) => ({
      title,
      items: items
        .map(({ lines }) => itemOf(lines.join("\n")))
        .filter(({ text, seqs }) => text !== "" || seqs.length > 0),
    }))
    .filter(({ title, items }) => title !== null || items.length > 0);
}

function itemOf(text: string): ShownItem {
  const start = /^\[(\d{1,9}(?:, ?\d{1,9}){0,50})\]\s?/.exec(text);
  const end = / \[(\d{1,9}(?:, ?\d{1,9}){0,50})\]$/.exec(text);
  const numbers = [start, end].flatMap((match) => match?.[1]?.split(",").map(Number) ?? []);
  const from = start?.[0].length ?? 0;
  const to = end === null ? text.length : Math.max(from, end.index);
  return {
    text: text.slice(from, to).replaceAll(/^~~~$/gm, "").trim(),
    seqs: [...new Set(numbers)].filter((seq) => seq > 0),
  };
}
