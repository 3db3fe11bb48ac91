/** Reads what came with a request: the body up to its limit, as JSON or text, and checks it and the query. */
import { isUtf8 } from "node:buffer";
import { MIMEType } from "node:util";
import { errorText, normalized } from "@palimpsest/core/internal/text";
import { beginsZip } from "palimpsest/internal/import";
import { inTurns, pace } from "palimpsest/internal/threads";
import type { z } from "zod";
import { ProblemError } from "./problem.ts";
import {
  AT_ONCE,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  parseJson,
  pastSpace,
  QUOTE,
  STEP,
  stringEnd,
} from "./read-json.ts";
import type { Route } from "./route.ts";

export interface BodyLimits {
  readonly bodyBytes: number;
  /** Levels of JSON. */
  readonly bodyNesting: number;
}

export async function readInput(route: Route, request: Request, limits: BodyLimits) {
  return {
    query: checked(route.query, readQuery(request), "query"),
    body: route.body === undefined ? undefined : checked(route.body, await readBody(route, request, limits), "body"),
  };
}

/** Stops at the limit, whatever the header says. */
async function readBytes(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  length: string | null,
  limit: number,
): Promise<Buffer> {
  const announced = Number(length ?? 0);
  const tooLarge = () =>
    new ProblemError(413, "too-large", `a body has at most ${limit} bytes here: send less, or in several requests`);
  if (announced > limit) throw tooLarge();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > limit) throw tooLarge();
    pieces.push(piece);
  }
  if (size <= AT_ONCE) return Buffer.concat(pieces);
  const bytes = Buffer.allocUnsafe(size);
  const steps = pace();
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
    if (steps.isDue()) await steps.turn();
  }
  return bytes;
}

/** The bytes of a body of any kind; what is JSON must not be nested too deep. */
export async function readShallow(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  length: string | null,
  { bodyBytes, bodyNesting }: BodyLimits,
): Promise<Buffer> {
  const bytes = await readBytes(body, length, bodyBytes);
  await assertShallow(bytes, bodyNesting);
  return bytes;
}

async function readBody(route: Route, request: Request, { bodyBytes, bodyNesting }: BodyLimits) {
  const bytes = await readBytes(request.body ?? [], request.headers.get("content-length"), bodyBytes);
  if (route.takes === "files" || (route.takes === "sessions" && beginsZip(bytes))) return bytes;
  if (!isUtf8(bytes)) throw new ProblemError(400, "bad-text", "the body is not UTF-8 text");
  // What reads a session decodes it piece by piece.
  if (route.takes === "sessions") return bytes;
  // An act without settings needs no body.
  if (pastSpace(bytes, 0) === bytes.length) return {};
  await assertShallow(bytes, bodyNesting);
  try {
    return await parseJson(bytes);
  } catch (error) {
    const reason = errorText(error);
    throw new ProblemError(400, "bad-json", `the body is not JSON: ${reason.slice(0, 200)}`);
  }
}

/** A name that stands twice is refused: which of the two is meant can't be known. */
function readQuery(request: Request): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of new URL(request.url).searchParams) {
    if (name in query) throw new ProblemError(400, "invalid", `query: ${JSON.stringify(name)} stands twice`);
    query[name] = value;
  }
  return query;
}

function checked(schema: z.ZodType | undefined, value: unknown, where: "query" | "body"): unknown {
  if (schema === undefined) {
    const [name] = Object.keys(value as object);
    if (name !== undefined) throw new ProblemError(400, "invalid", `query: unknown ${JSON.stringify(name)}`);
    return {};
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const details = result.error.issues.slice(0, 20).map(({ path, message }) => ({
    at: [where, ...path.map(String)].join("."),
    message,
  }));
  const { at, message } = details[0]!;
  throw new ProblemError(400, "invalid", `${at}: ${message}`, { details });
}

/* Files that came with a request: as a form, or one as the body itself. Names are checked before anything is written. */

export interface UploadedFile {
  readonly name: string;
  readonly bytes: Buffer;
}

export async function readUploads(bytes: Buffer, type: string, name: string | null): Promise<readonly UploadedFile[]> {
  const files = /^multipart\/form-data/i.test(type) ? await formFiles(bytes, type) : rawFile(bytes, name);
  if (files.length === 0) throw new ProblemError(400, "no-file", "there is no file in it");
  if (files.length > MOST_FILES)
    throw new ProblemError(400, "too-many-files", `at most ${MOST_FILES} files come with one request`);
  const names = new Set(files.map((file) => file.name));
  if (names.size < files.length) throw new ProblemError(400, "bad-name", "two files of one request have the same name");
  return files;
}

const MOST_FILES = 100;

function rawFile(bytes: Buffer, name: string | null): UploadedFile[] {
  if (name === null)
    throw new ProblemError(400, "no-name", "a file as the body needs a name: ?name=report.pdf; or send a form");
  return [{ name: checkedName(name), bytes }];
}

async function formFiles(bytes: Buffer, type: string): Promise<UploadedFile[]> {
  const form = await readForm(bytes, type);
  if (form === null) throw new ProblemError(400, "bad-form", "the form can't be read");
  const files: UploadedFile[] = [];
  for (const value of form.values())
    if (typeof value !== "string")
      files.push({ name: checkedName(value.name), bytes: Buffer.from(await value.arrayBuffer()) });
  return files;
}

/** Null: it is none. One of very many fields is refused, since it is parsed at once. */
export async function readForm(bytes: Buffer, type: string): Promise<FormData | null> {
  const boundary = boundaryOf(type);
  if (boundary === null) return null;
  let parts = 0;
  for (let at = bytes.indexOf(boundary); at !== -1; at = bytes.indexOf(boundary, at + boundary.length)) {
    parts += 1;
    // One more stands at the end.
    if (parts <= MOST_FIELDS + 1) continue;
    throw new ProblemError(400, "too-many-values", `the form has more than ${MOST_FIELDS} fields`);
  }
  return new Response(new Uint8Array(bytes), { headers: { "content-type": type } }).formData().catch(() => null);
}

function boundaryOf(type: string): string | null {
  try {
    const boundary = new MIMEType(type).params.get("boundary");
    return boundary === null || boundary === "" ? null : `--${boundary}`;
  } catch {
    return null;
  }
}

/** One name in one folder, on every system. */
function checkedName(given: string): string {
  const name = normalized(given, "NFC");
  const problem = problemOf(name);
  if (problem !== null)
    throw new ProblemError(
      400,
      "bad-name",
      `${JSON.stringify(name.slice(0, 80))} is no name for a file here: ${problem}`,
    );
  return name;
}

function problemOf(name: string): string | null {
  if (name === "") return "it is empty";
  if (Buffer.byteLength(name) > MOST_NAME) return `it is longer than ${MOST_NAME} bytes`;
  if (!name.isWellFormed()) return "it is no text";
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)) return "it holds signs that can't be seen";
  if (/[/\\<>:"|?*]/.test(name)) return 'it holds one of / \\ < > : " | ? *';
  if (/^[. ]|[. ]$/.test(name)) return "it begins or ends with a dot or a blank";
  if (/^[-~]/.test(name)) return "a shell would read its - or ~ as something else";
  return /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(name) ? "some systems keep it for a device" : null;
}

/** Room for the ending of what is made of it. */
const MOST_NAME = 200;

/* The form of a body, from its bytes: a parser that meets millions of open brackets takes seconds. */

/** Throws a `ProblemError` if the bytes are a list or an object of JSON and nested too deep; other bytes pass. */
export async function assertShallow(bytes: Buffer, nesting: number): Promise<void> {
  const first = bytes[pastSpace(bytes, 0)];
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return;
  const problem = await inTurns(shapeProblem(bytes, nesting));
  if (problem === "too-deep") throw new ProblemError(400, problem, `the body is nested deeper than ${nesting} levels`);
  if (problem === "too-many-values")
    throw new ProblemError(
      400,
      problem,
      `a message, or another item of the body, holds more than ${MOST_VALUES} values, or the body has more than ${MOST_FIELDS} fields`,
    );
}

/** Of one message or tool: what is done with it is done at once. */
const MOST_VALUES = 50_000;
/** Of the body itself, and of a form. */
const MOST_FIELDS = 1000;

/** Ends at the first level or value too many. Of text that is no JSON it says what it likes. */
function* shapeProblem(bytes: Buffer, mostLevels: number): Generator<void, "too-deep" | "too-many-values" | null> {
  let depth = 0;
  let pause = STEP;
  let [fields, values] = [0, 0];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = stringEnd(bytes, at) - 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      if (depth > mostLevels) return "too-deep";
      if (depth === ITEM_DEPTH) values = 0;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
    else if (byte === COMMA) {
      if (depth === 1) fields += 1;
      if (depth >= ITEM_DEPTH) values += 1;
      if (fields >= MOST_FIELDS || values >= MOST_VALUES) return "too-many-values";
    }
    if (at < pause) continue;
    pause = at + STEP;
    yield;
  }
  return null;
}

/** Of a message in the body's list of messages. */
const ITEM_DEPTH = 3;
