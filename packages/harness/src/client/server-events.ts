/** Server-sent events out of the pieces of a body, as browsers read them. Pure. */
export interface ServerEvent {
  readonly id: string | null;
  /** `message` unless it says otherwise. */
  readonly name: string;
  readonly data: string;
}

export class ServerEventReader {
  #rest = "";

  /** The events that this piece completes. A comment is none. */
  read(piece: string): ServerEvent[] {
    // A piece may end between the two characters of one line's end.
    const text = this.#rest + piece;
    const whole = text.endsWith("\r") ? text.slice(0, -1) : text;
    const blocks = whole.split(/\r\n\r\n|\n\n|\r\r/);
    this.#rest = (blocks.pop() ?? "") + text.slice(whole.length);
    return blocks.flatMap((block) => eventIn(block) ?? []);
  }
}

function eventIn(block: string): ServerEvent | null {
  const data: string[] = [];
  let id: string | null = null;
  let name = "message";
  for (const line of block.split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (field === "data") data.push(value);
    if (field === "event") name = value;
    if (field === "id") id = value;
  }
  return data.length === 0 ? null : { id, name, data: data.join("\n") };
}
