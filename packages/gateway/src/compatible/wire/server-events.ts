/** Server-sent events as their bytes come: whole events, whatever way the bytes were cut. */

export interface ServerEvent {
  readonly name: string | null;
  readonly data: string;
}

export function eventParser(): (bytes: Uint8Array) => ServerEvent[] {
  const decoder = new TextDecoder();
  let rest = "";
  return (bytes) => {
    rest += decoder.decode(bytes, { stream: true });
    if (rest.includes("\r")) rest = rest.replaceAll("\r\n", "\n");
    const blocks = rest.split("\n\n");
    rest = blocks.pop()!;
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
