/** One line of JSON for each request, for each run, and for a store that fails. It never holds a key, a header, a query or a body: those are the callers' own. */

export interface RequestLine {
  readonly time: string;
  readonly level: "info" | "error";
  /** Also in the answer, as `x-request-id`. */
  readonly request: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly user: string | null;
  /** The key's id, which is no secret. */
  readonly key: string | null;
  /** The code of a refusal. */
  readonly code?: string;
  /** Unexpected errors, for the operator; clients don't get them. */
  readonly error?: string;
}

/** How a run ended that may have outlived its request. */
interface RunLine extends Pick<RequestLine, "time" | "level" | "user" | "ms" | "code" | "error"> {
  readonly run: string;
  readonly thread: string;
  readonly end: string;
}

/** How far a search index has come that is built in the background: a line for each tenth. */
export interface IndexLine extends Pick<RequestLine, "time" | "level" | "user" | "error"> {
  readonly thread: string | null;
  readonly index: "building" | "built" | "failed";
  readonly indexed?: number;
  readonly records?: number;
}

/** The store can't be written: at once, each minute while it lasts, and when it is over. */
interface StoreLine extends Pick<RequestLine, "time" | "level"> {
  readonly store: "failing" | "recovered";
  /** Of the last failure. */
  readonly code: string;
  /** How many there were since then. */
  readonly failures: number;
  readonly since: string;
}

export type LogLine = RequestLine | RunLine | IndexLine | StoreLine;

export type Log = (line: LogLine) => void;
