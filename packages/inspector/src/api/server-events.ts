/** Server-sent events of an answer, one by one as they come. The browser's own reader can only GET. */

export interface StreamedEvent {
  /** `message` unless the server says otherwise. */
  readonly name: string;
  readonly data: unknown;
}

export async function* eventsOf(response: Response): AsyncGenerator<StreamedEvent> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      waiting += value;
      const whole = waiting.split("\n\n");
      waiting = whole.pop()!;
      for (const block of whole) {
        const event = eventIn(block);
        if (event !== null) yield event;
      }
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** Null: a comment, which only says that the connection lives. */
export function eventIn(block: string): StreamedEvent | null {
  let name = "message";
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data += line.slice(5).trim();
  }
  return data === "" ? null : { name, data: JSON.parse(data) };
}
