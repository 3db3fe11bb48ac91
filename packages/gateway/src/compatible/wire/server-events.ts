/** Server-sent events as their bytes come: whole events, whatever way the bytes were cut. */

export interface ServerEvent {
  readonly name: string | null;
  readonly data: string;
}

export function eventParser(): (bytes: Uint8Array) => ServerEvent[] {
  const decoder = new TextDecoder();
  // Of an event that hasn't ended: joined once, at its end, so that a long one isn't searched again with every piece.
  let pieces: string[] = [];
  let last = "";
  return (bytes) => {
    const text = (last + decoder.decode(bytes, { stream: true })).replaceAll("\r\n", "\n");
    const end = text.lastIndexOf("\n\n");
    // What may be the beginning of an end is looked at again with the next piece.
    const kept = lineEndsIn(text.slice(-3));
    if (end === -1) {
      last = text.slice(text.length - kept);
      pieces.push(text.slice(0, text.length - kept));
      return [];
    }
    const blocks = (pieces.join("") + text.slice(0, end)).split("\n\n");
    pieces = [];
    last = text.slice(end + 2);
    return blocks.flatMap(eventIn);
  };
}

/** A block without data is a comment. */
function eventIn(block: string): ServerEvent[] {
  let name: string | null = null;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
    else if (line.startsWith("event:")) name = line.slice(6).trim();
  }
  return data.length === 0 ? [] : [{ name, data: data.join("\n") }];
}

/** Hands on what each event holds that is an object, with its text. */
export function objectReader(
  take: (fields: Readonly<Record<string, unknown>>, data: string) => void,
): (bytes: Uint8Array) => void {
  const parse = eventParser();
  return (bytes) => {
    for (const event of parse(bytes)) {
      const fields = dataOf(event);
      if (fields !== null) take(fields, event.data);
    }
  };
}

/** An event's data as an object; null for what is none. */
export function dataOf({ data }: Pick<ServerEvent, "data">): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}

/** How many characters of line ends the text ends with. */
function lineEndsIn(text: string): number {
  let count = 0;
  while (count < text.length && "\r\n".includes(text.at(-1 - count)!)) count += 1;
  return count;
}
