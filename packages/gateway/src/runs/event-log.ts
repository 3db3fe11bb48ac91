/**
 * The events of one run as JSON texts, numbered from 1 without gaps, for readers that come late or come back. It holds so
 * many bytes at most: the oldest go first, and a reader that still needs them is told so. Pure.
 */
export class EventLog {
  readonly #most: number;
  #events: string[] = [];
  /** How many of them at the front are gone already. */
  #gone = 0;
  /** The number of the first that is kept. */
  #first = 1;
  #bytes = 0;

  constructor(mostBytes = MOST_BYTES) {
    this.#most = mostBytes;
  }

  /** The number of the last event; 0 before the first. */
  get last(): number {
    return this.#first + this.#events.length - this.#gone - 1;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The number of the oldest that is kept. */
  get first(): number {
    return this.#first;
  }

  /** Characters behind this number. */
  charsAfter(id: number): number {
    let chars = 0;
    for (let next = Math.max(id + 1, this.#first); next <= this.last; next += 1)
      chars += this.#events[this.#gone + next - this.#first]!.length;
    return chars;
  }

  append(event: string): void {
    this.#events.push(event);
    this.#bytes += sizeOf(event);
    // The newest stays, however large it is: whoever reads along has to see it.
    while (this.#bytes > this.#most && this.last > this.#first) this.#dropFirst();
  }

  /** What comes behind this number, up to about `chars` characters and one event at least. */
  after(id: number, chars = Number.POSITIVE_INFINITY): LogSlice {
    if (id > this.last) return { kind: "ahead", last: this.last };
    if (id < this.#first - 1) return { kind: "gone", first: this.#first };
    const events: LoggedEvent[] = [];
    let size = 0;
    for (let next = id + 1; next <= this.last && (events.length === 0 || size < chars); next += 1) {
      const data = this.#events[this.#gone + next - this.#first]!;
      events.push({ id: next, data });
      size += data.length;
    }
    return { kind: "events", events };
  }

  #dropFirst(): void {
    this.#bytes -= sizeOf(this.#events[this.#gone]!);
    this.#events[this.#gone] = "";
    this.#gone += 1;
    this.#first += 1;
    // Rarely, so that dropping costs the same for each.
    if (this.#gone * 2 < this.#events.length) return;
    this.#events = this.#events.slice(this.#gone);
    this.#gone = 0;
  }
}

export interface LoggedEvent {
  readonly id: number;
  readonly data: string;
}

export type LogSlice =
  | { readonly kind: "events"; readonly events: readonly LoggedEvent[] }
  /** The reader is too far behind: `first` is the oldest that is kept. */
  | { readonly kind: "gone"; readonly first: number }
  /** Nobody can have seen that one yet. */
  | { readonly kind: "ahead"; readonly last: number };

/** Some hundred thousand words, or a few very large tool outputs. */
const MOST_BYTES = 16 * 1024 * 1024;

/** A string costs its characters, and something for itself. */
function sizeOf(event: string): number {
  return event.length + 32;
}
