/**
 * Who reads a run. A browser that closes a connection may have been told to stop, or be loading its page again: nobody can
 * tell. So a run that nobody reads any more is given up after a while, unless somebody has come back by then.
 */
import type { After } from "../http/event-stream.ts";
import type { Run } from "./run.ts";

const COMES_BACK_MS = 5_000;

export class Attendance {
  readonly #run: Run;
  readonly #after: After;
  #readers = 0;
  #stopWaiting = (): void => {};

  constructor(run: Run, after: After) {
    this.#run = run;
    this.#after = after;
  }

  /** What comes back is to be called once, when the reader has left before the end. */
  enter(): () => void {
    this.#stopWaiting();
    this.#readers += 1;
    return () => {
      this.#readers -= 1;
      if (this.#readers > 0) return;
      this.#stopWaiting = this.#after(COMES_BACK_MS, () => this.#run.stop("caller"));
      void this.#run.ended.then(this.#stopWaiting);
    };
  }
}
