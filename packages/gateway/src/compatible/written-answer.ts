/** Answers that don't go on as a provider sent them: made here, or written anew on their way. */
import { type JsonFields, parseFields } from "../http/read-json.ts";
import { bytesOf, formOf, type UpstreamAnswer } from "./upstream.ts";

const TYPES = { whole: "application/json", stream: "text/event-stream; charset=utf-8" } as const;

export function writtenAnswer(
  status: number,
  form: keyof typeof TYPES,
  texts: Iterable<string> | AsyncIterable<string>,
): UpstreamAnswer {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for await (const text of texts) if (text !== "") yield Buffer.from(text);
  }
  return { status, headers: { "content-type": TYPES[form] }, body: bytes() };
}

interface Rewriting {
  events(body: UpstreamAnswer["body"]): AsyncIterable<Uint8Array>;
  whole(body: JsonFields): JsonFields;
}

export function rewrittenAnswer(answer: UpstreamAnswer, { events, whole }: Rewriting): UpstreamAnswer {
  const { "content-length": _, ...headers } = answer.headers;
  async function* anew(): AsyncGenerator<Uint8Array> {
    const bytes = await bytesOf(answer.body);
    const fields = parseFields(bytes.toString());
    yield fields === null ? bytes : Buffer.from(JSON.stringify(whole(fields)));
  }
  return { ...answer, headers, body: formOf(answer) === "stream" ? events(answer.body) : anew() };
}
