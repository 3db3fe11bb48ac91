/** A run's events as a reader gets them: each with its id, and at the end why there are no more where that isn't plain. */
import { type After, eventText } from "../http/event-stream.ts";
import type { GatewayRun, SeenRun } from "./run.ts";

export async function* followed(run: SeenRun, after: number): AsyncGenerator<string> {
  const slices = run.events(after);
  for (;;) {
    const { done, value } = await slices.next();
    if (done === true) {
      if (value === "gone") yield errorText("events-gone", "you read too slowly: the next events are no longer kept");
      else if (value === "lost") yield errorText("run-lost", "the process that carried it out is gone");
      else if (run.stoppedBy === "shutdown")
        yield errorText("closing", "the server has shut down before the run ended");
      return;
    }
    yield value.map(({ id, data }) => eventText(data, { id })).join("");
  }
}

function errorText(code: string, message: string): string {
  return eventText(JSON.stringify({ error: { code, message } }), { name: "error" });
}

/*
 * Who reads a run. A browser that closes a connection may have been told to stop, or be reloading its page: the two look
 * the same. So a run without readers is given up after a while, unless a reader has come back by then, here or on another
 * instance.
 */

const COMES_BACK_MS = 5_000;

export class Attendance {
  readonly #run: GatewayRun;
  readonly #after: After;
  readonly #isReadElsewhere: () => Promise<boolean>;
  #readers = 0;
  #stopWaiting = (): void => {};

  constructor(run: GatewayRun, after: After, isReadElsewhere: () => Promise<boolean> = async () => false) {
    this.#run = run;
    this.#after = after;
    this.#isReadElsewhere = isReadElsewhere;
  }

  /** What comes back is to be called once, when the reader has left before the end. */
  enter(): () => void {
    this.#stopWaiting();
    this.#readers += 1;
    return () => {
      this.#readers -= 1;
      if (this.#readers === 0) this.#wait();
    };
  }

  #wait(): void {
    this.#stopWaiting = this.#after(COMES_BACK_MS, () => void this.#giveUp());
    void this.#run.ended.then(this.#stopWaiting);
  }

  async #giveUp(): Promise<void> {
    const isRead = await this.#isReadElsewhere().catch(() => false);
    if (this.#readers > 0 || this.#run.status === "ended") return;
    if (isRead) this.#wait();
    else this.#run.stop("caller");
  }
}
