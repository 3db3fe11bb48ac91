/**
 * Who may run now: a semaphore that is fair between parents. Each parent's children wait in the order they were asked
 * for, and a free place goes to the parents in turn, so that one with fifty children doesn't keep another's one waiting.
 */

export interface Gate {
  /** Resolves to the way out, once there is room; rejects when the signal aborts first. */
  enter(parent: string, options: { readonly limit: number; readonly signal: AbortSignal }): Promise<Leave>;
  readonly running: number;
  readonly waiting: number;
}

type Leave = () => void;

export function createGate(): Gate {
  const line = new Line();
  return {
    enter(parent, { limit, signal }) {
      if (signal.aborted) return Promise.reject(signal.reason);
      const { promise, resolve, reject } = Promise.withResolvers<Leave>();
      const stop = (): void => {
        line.drop(parent, waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        limit,
        admit(leave) {
          signal.removeEventListener("abort", stop);
          resolve(leave);
        },
      };
      signal.addEventListener("abort", stop, { once: true });
      line.join(parent, waiter);
      return promise;
    },
    get running() {
      return line.running;
    },
    get waiting() {
      return line.waiting;
    },
  };
}

interface Waiter {
  readonly limit: number;
  admit(leave: Leave): void;
}

class Line {
  running = 0;
  /** The map's order is the parents' turn. */
  readonly #queues = new Map<string, Waiter[]>();

  get waiting(): number {
    return [...this.#queues.values()].reduce((sum, queue) => sum + queue.length, 0);
  }

  join(parent: string, waiter: Waiter): void {
    const queue = this.#queues.get(parent);
    if (queue === undefined) this.#queues.set(parent, [waiter]);
    else queue.push(waiter);
    this.#admit();
  }

  drop(parent: string, waiter: Waiter): void {
    const left = (this.#queues.get(parent) ?? []).filter((other) => other !== waiter);
    if (left.length === 0) this.#queues.delete(parent);
    else this.#queues.set(parent, left);
    this.#admit();
  }

  #admit(): void {
    for (const [parent, [first, ...rest]] of this.#queues) {
      if (first === undefined || this.running >= first.limit) return;
      this.#queues.delete(parent);
      // To the end of the line; this loop comes to it again.
      if (rest.length > 0) this.#queues.set(parent, rest);
      this.running++;
      first.admit(this.#leaveOnce());
    }
  }

  #leaveOnce(): Leave {
    let inside = true;
    return () => {
      if (!inside) return;
      inside = false;
      this.running--;
      this.#admit();
    };
  }
}

/** The one of this process: what it bounds is the machine's and the provider's load, whatever agent asks. */
export const processGate: Gate = createGate();
