/** Time that passes when a test says so. */
import type { After } from "../src/http/event-stream.ts";

export class ManualTime {
  #now = 0;
  readonly #acts = new Set<{ readonly at: number; readonly act: () => void }>();

  readonly after: After = (ms, act) => {
    const one = { at: this.#now + ms, act };
    this.#acts.add(one);
    return () => void this.#acts.delete(one);
  };

  readonly clock = (): Date => new Date(this.#now);

  /** How many wait for their time. */
  get waiting(): number {
    return this.#acts.size;
  }

  async pass(ms: number): Promise<void> {
    this.#now += ms;
    for (const one of [...this.#acts].filter(({ at }) => at <= this.#now)) {
      this.#acts.delete(one);
      one.act();
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
