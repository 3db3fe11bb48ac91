/**
 * What a route is: an entry of the table, from which the server, `/openapi.json` and the tests are made. What comes in is
 * what its schemas say, what goes out has the type of its answer.
 */
import type { Home } from "palimpsest/internal/home";
import { z } from "zod";
import type { Access, Caller } from "../access/admit.ts";
import type { RequestMeter } from "../metrics/metrics.ts";
import type { Download } from "./download.ts";
import type { EventStream } from "./event-stream.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A route as the server sees it, whatever its schemas are. */
export interface Route {
  readonly method: Method;
  /** With names in braces: `/api/threads/{id}`; `{path}` may hold slashes. */
  readonly path: string;
  readonly summary: string;
  readonly access: Access;
  /** It may ask a model: while it runs it holds tokens of its key. */
  readonly spends?: "tokens" | undefined;
  readonly query?: z.ZodObject | undefined;
  readonly body?: z.ZodType | undefined;
  /** `sessions`: the bytes of a text or of a zip archive. `files`: the bytes of a form or of one file. */
  readonly takes?: "json" | "sessions" | "files";
  readonly answer: z.ZodType;
  /** Other than `application/json`. */
  readonly gives?: string | undefined;
  /** `also`: server-sent events instead, where they are asked for. `always`: nothing else, or 204 where there is nothing. */
  readonly streams?: "also" | "always";
  readonly status?: number | undefined;
  handle(call: Call<never, never>): Promise<unknown>;
}

export interface Call<Query, Body> {
  /** By their names in the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly contentType: string | null;
  readonly caller: Caller;
  /** The home as the caller's user sees it. */
  readonly home: Home;
  /** The caller's own key of a provider, for this request alone; never to be stored, logged or shown. */
  readonly providerKey: string | null;
  /** To be told what models and compactions took. */
  readonly meter: RequestMeter;
  /** What `Origin` says, as it came. */
  readonly origin: string | null;
  /** What `Cookie` says, as it came. */
  readonly cookies: string | null;
  /** What `Last-Event-ID` says, as it came. */
  readonly lastEventId: string | null;
  readonly signal: AbortSignal;
}

/** A JSON document with headers of its own. */
export class Headed<T> {
  readonly body: T;
  readonly headers: Readonly<Record<string, string>>;

  constructor(body: T, headers: Headed<T>["headers"]) {
    this.body = body;
    this.headers = headers;
  }
}

/** There is nothing to answer with: 204. */
export const NOTHING: unique symbol = Symbol("nothing");

/** An answer that is no JSON document, or a long one that is written as it is made. */
export class Stream {
  readonly pieces: AsyncIterable<string> | Iterable<string>;
  readonly type: string;

  constructor(pieces: AsyncIterable<string> | Iterable<string>, type = "application/json") {
    this.pieces = pieces;
    this.type = type;
  }
}

type RouteEntry<Query extends z.ZodObject, Body extends z.ZodType, Answer extends z.ZodType> = Omit<
  Route,
  "query" | "body" | "answer" | "handle"
> & {
  readonly query?: Query | undefined;
  readonly body?: Body | undefined;
  readonly answer: Answer;
  handle(
    call: Call<z.output<Query>, z.output<Body>>,
  ): Promise<z.input<Answer> | Headed<z.input<Answer>> | Stream | Download | EventStream | typeof NOTHING>;
};

/** An entry of the table; the compiler holds its work to its schemas. */
export function route<
  Answer extends z.ZodType,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodUndefined,
>(entry: RouteEntry<Query, Body, Answer>): Route {
  return entry;
}

export function pathNames(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}

/* Pieces that the routes' schemas share. Input is strict: an unknown field is refused. */

export const thread = z.string().describe("A thread's id.");

/** Answers are never written to, so their lists are read-only. */
export const list = <T extends z.ZodType>(of: T) => z.array(of).readonly();

/** A number in a query or a path. */
export const whole = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d{1,16}$/, "must be a whole number")
    .transform(Number)
    .pipe(z.int().min(min).max(max));

export const flag = z.enum(["true", "false"]).transform((text) => text === "true");

export const page = {
  limit: whole(1, 500).optional().describe("How many at most; 100 unless told."),
  after: z.string().max(200).optional().describe("The `next` of the page before."),
};

export const PAGE = 100;

export const next = z.string().nullable().describe("Pass as `after` for the next page; null at the end.");

/** A custom agent's name. */
export const agent = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/);

export const noBody = z.strictObject({});
