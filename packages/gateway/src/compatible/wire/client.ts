/** The other end of a request: where its answer goes, piece by piece, no faster than it is read. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";

export interface Client {
  head(status: number, headers: Readonly<Record<string, string | string[]>>): void;
  write(bytes: Uint8Array): Promise<void>;
  end(): void;
  /** As a provider that breaks off: the client can tell it from an end. */
  breakOff(): void;
  /** It has left before the end. */
  readonly left: AbortSignal;
}

/** Straight to the connection: a web stream in between would cost more than all the rest. */
export function nodeClient(outgoing: ServerResponse): Client {
  const left = new AbortController();
  outgoing.on("close", () => {
    if (!outgoing.writableFinished) left.abort();
  });
  outgoing.on("error", () => left.abort());
  return {
    head(status, headers) {
      outgoing.writeHead(status, headers);
      outgoing.flushHeaders();
    },
    async write(bytes) {
      if (left.signal.aborted || outgoing.write(bytes)) return;
      await once(outgoing, "drain", { signal: left.signal }).catch(() => {});
    },
    end: () => void outgoing.end(),
    breakOff: () => void outgoing.destroy(),
    left: left.signal,
  };
}

/** For a server of somebody else's that speaks `fetch`: the response is there when its head is. */
export function webClient(): { readonly client: Client; readonly response: Promise<Response> } {
  const left = new AbortController();
  const answered = Promise.withResolvers<Response>();
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  writer.closed.catch(() => left.abort());
  const client: Client = {
    head(status, headers) {
      const given = new Headers();
      for (const [name, value] of Object.entries(headers)) for (const one of [value].flat()) given.append(name, one);
      answered.resolve(new Response(status === 204 || status === 304 ? null : readable, { status, headers: given }));
    },
    write: (bytes) => writer.write(bytes).catch(() => {}),
    end: () => void writer.close().catch(() => {}),
    breakOff: () => void writer.abort(new Error("the provider broke off")).catch(() => {}),
    left: left.signal,
  };
  return { client, response: answered.promise };
}
