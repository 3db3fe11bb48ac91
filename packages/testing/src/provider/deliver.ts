/** Writes replies and failures to the wire, whole or as server-sent events, and breaks off where a fault says so. */
import type { ServerResponse } from "node:http";
import { type Fault, failureOf } from "./fault.ts";
import type { Failure, Protocol, ProviderEvent, Reply } from "./protocol.ts";

export function deliver(
  outgoing: ServerResponse,
  protocol: Protocol,
  reply: Reply,
  { stream, fault }: { readonly stream: boolean; readonly fault: Fault | undefined },
): void {
  if (fault?.kind === "drop") return void outgoing.destroy();
  if (fault?.kind === "stall" && fault.afterEvents === undefined) return;
  if (stream) deliverEvents(outgoing, protocol, protocol.events(reply), fault);
  else deliverWhole(outgoing, protocol.whole(reply), fault);
}

export function deliverFailure(outgoing: ServerResponse, protocol: Protocol, failure: Failure, stream: boolean): void {
  if (stream && failure.kind === "overflow" && failure.style === "in-stream") {
    outgoing.writeHead(200, EVENT_STREAM);
    return void outgoing.end(protocol.streamFailure(failure).map(text).join(""));
  }
  const { status, body, headers } = protocol.failure(failure);
  outgoing.writeHead(status, { "content-type": "application/json", ...headers });
  outgoing.end(JSON.stringify(body));
}

const EVENT_STREAM = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };

function deliverWhole(outgoing: ServerResponse, body: unknown, fault: Fault | undefined): void {
  const bytes = Buffer.from(JSON.stringify(body));
  outgoing.writeHead(200, { "content-type": "application/json", "content-length": bytes.length });
  if (fault?.kind !== "cut" && fault?.kind !== "stall") return void outgoing.end(bytes);
  const half = bytes.subarray(0, Math.floor(bytes.length / 2));
  outgoing.write(half, () => fault.kind === "cut" && outgoing.destroy());
}

function deliverEvents(
  outgoing: ServerResponse,
  protocol: Protocol,
  events: readonly ProviderEvent[],
  fault: Fault | undefined,
): void {
  outgoing.writeHead(200, EVENT_STREAM);
  if (fault?.kind !== "cut" && fault?.kind !== "stall" && fault?.kind !== "stream-error") {
    return void outgoing.end(events.map(text).join(""));
  }
  outgoing.flushHeaders();
  const sent = events.slice(0, fault.afterEvents ?? Math.ceil(events.length / 2));
  const failure = failureOf(fault, { tokens: 0, style: protocol.overflow });
  const last = failure === null ? [] : protocol.streamFailure(failure);
  const bytes = [...sent, ...last].map(text).join("");
  if (fault.kind === "stream-error") return void outgoing.end(bytes);
  if (fault.kind === "stall" && fault.comments === "on") keepAlive(outgoing, fault.onComment);
  // An empty chunk would end the body.
  const after = () => fault.kind === "cut" && outgoing.destroy();
  if (bytes === "") after();
  else outgoing.write(bytes, after);
}

function keepAlive(outgoing: ServerResponse, onComment: () => void = () => {}): void {
  const timer = setInterval(() => outgoing.write(": keep-alive\n\n", onComment), 5);
  outgoing.on("close", () => clearInterval(timer));
}

function text({ name, data }: ProviderEvent): string {
  const body = typeof data === "string" ? data : JSON.stringify(data);
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${body}\n\n`;
}
