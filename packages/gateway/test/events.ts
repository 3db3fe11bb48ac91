/** Reads server-sent events as a client does. */

export interface ReadEvent {
  readonly id: number | null;
  readonly name: string | null;
  readonly data: Readonly<Record<string, unknown>> & { readonly type?: string };
}

export async function* eventsOf(response: Response): AsyncGenerator<ReadEvent> {
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const blocks = text.split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      const fields = new Map(block.split("\n").map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
      const data = fields.get("data");
      if (data === undefined) continue;
      const id = fields.get("id");
      yield { id: id === undefined ? null : Number(id), name: fields.get("event") ?? null, data: JSON.parse(data) };
    }
  }
}

export async function allEvents(response: Response): Promise<ReadEvent[]> {
  const all: ReadEvent[] = [];
  for await (const event of eventsOf(response)) all.push(event);
  return all;
}

/** Reads on until the event that was waited for, which is the last one given. */
export async function until(
  events: AsyncGenerator<ReadEvent>,
  isLast: (event: ReadEvent) => boolean,
): Promise<ReadEvent[]> {
  const seen: ReadEvent[] = [];
  for (;;) {
    const { done, value } = await events.next();
    if (done === true) throw new Error(`the stream ended after ${JSON.stringify(seen.at(-1))}`);
    seen.push(value);
    if (isLast(value)) return seen;
  }
}

export async function jsonOf(response: Response): Promise<Readonly<Record<string, unknown>>> {
  return (await response.json()) as Record<string, unknown>;
}

/** The status and the code of a refusal. */
export async function refusalOf(response: Response): Promise<string> {
  const { error } = (await jsonOf(response)) as { error: { code: string } };
  return `${response.status} ${error.code}`;
}
