/**
 * A strict provider to test against, as a real HTTP server on this machine: OpenAI chat completions, OpenAI responses and
 * Anthropic messages. It refuses what the real ones refuse, in their words, counts exactly, and breaks where it is told
 * to. Every request is on record with its verdict. It answers only what `respond` says.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isRecord } from "@palimpsest/core/internal/text";
import { type CountText, charsPerToken } from "@palimpsest/core/internal/tokens";
import type { PlayedAnswer } from "palimpsest/internal/played-answer";
import { anthropicMessages } from "./provider/anthropic.ts";
import { boundSignature, misplacedThought } from "./provider/binding.ts";
import { sharedTokens, type Turn, type TurnPiece } from "./provider/conversation.ts";
import { deliver, deliverFailure } from "./provider/deliver.ts";
import { type Fault, failureOf } from "./provider/fault.ts";
import { judge } from "./provider/judge.ts";
import { openaiChat } from "./provider/openai-chat.ts";
import { openaiResponses } from "./provider/openai-responses.ts";
import {
  type Failure,
  malformed,
  type OverflowStyle,
  type Protocol,
  type ProtocolName,
  type ReadRequest,
} from "./provider/protocol.ts";
import { replyOf } from "./provider/reply.ts";

export interface ProviderServerOptions {
  /** A string is a text answer. Default: `ok`. */
  readonly respond?: (request: ProviderRequest) => string | PlayedAnswer | Promise<string | PlayedAnswer>;
  /** Input window in tokens; unlimited when not given. */
  readonly window?: number;
  readonly maxBytes?: number;
  /** How a request over the window is refused; the protocol's own way when not given. */
  readonly overflow?: OverflowStyle;
  readonly rules?: "strict" | "off";
  /** `prefix`: thinking is refused behind any other prompt than the one it was made under, as by newer Claude models. */
  readonly binding?: "prefix" | "off";
  readonly count?: CountText;
  /** Faults by the number of the request, from 0, or by looking at it. */
  readonly faults?: Readonly<Record<number, Fault>> | ((request: ProviderRequest) => Fault | undefined);
  /** `prefix`: what a request has in common with the one before it, from its beginning, is reported as cached. */
  readonly promptCache?: "prefix" | "off";
  /** Other keys are refused with 401. */
  readonly apiKey?: string;
  /** `verdicts` leaves bodies and messages out of the record, for long runs. */
  readonly record?: "all" | "verdicts";
}

export interface ProviderRequest {
  /** From 0, over all protocols. */
  readonly index: number;
  readonly protocol: ProtocolName;
  readonly model: string;
  readonly stream: boolean;
  readonly turns: readonly Turn[];
  /** Names of the tools offered. */
  readonly tools: readonly string[];
  readonly tokens: number;
  readonly bytes: number;
  /** As it came. */
  readonly body: Record<string, unknown>;
}

export interface RecordedRequest extends Omit<ProviderRequest, "body" | "turns"> {
  readonly body: Record<string, unknown> | null;
  readonly turns: readonly Turn[];
  readonly verdict: Verdict;
}

export type Verdict =
  | { readonly kind: "answered"; readonly input: number; readonly cached: number; readonly output: number }
  | { readonly kind: "refused"; readonly failure: Failure }
  | { readonly kind: "fault"; readonly fault: Fault };

export interface ProviderServer {
  /** The base URL for OpenAI clients and AI SDK providers; it ends with `/v1`. */
  readonly url: string;
  /** The base URL for Anthropic's own client, which adds `/v1` itself. */
  readonly origin: string;
  readonly requests: readonly RecordedRequest[];
  close(): Promise<void>;
}

const PROTOCOLS: readonly Protocol[] = [openaiChat, openaiResponses, anthropicMessages];

export async function startProviderServer(options: ProviderServerOptions = {}): Promise<ProviderServer> {
  const count = remembering(options.count ?? charsPerToken(4));
  const state: State = { options, count, requests: [], earlier: new Map(), arrived: 0 };
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing, state).catch((error: unknown) => {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(500, { "x-should-retry": "false" }).end(`The test's respond() failed: ${String(error)}`);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/v1`,
    origin,
    requests: state.requests,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface State {
  readonly options: ProviderServerOptions;
  readonly count: CountText;
  readonly requests: RecordedRequest[];
  arrived: number;
  /** The last prompt of each model, for the prompt cache. */
  readonly earlier: Map<string, readonly TurnPiece[]>;
}

type Readable = Extract<ReadRequest, { kind: "request" }>;

async function handle(incoming: IncomingMessage, outgoing: ServerResponse, state: State): Promise<void> {
  const raw = await bodyOf(incoming);
  const path = (incoming.url ?? "").split("?")[0];
  const protocol = PROTOCOLS.find((known) => known.path === path && incoming.method === "POST");
  if (protocol === undefined) {
    outgoing.writeHead(404, { "content-type": "application/json" });
    outgoing.end(JSON.stringify({ error: { message: `Unknown request URL: ${incoming.method} ${path}.` } }));
    return;
  }
  const body = parse(raw);
  const read = body === null ? malformed("the body is not a JSON object") : protocol.read(body, incoming.headers);
  const pieces = read.kind === "request" ? read.conversation.measure(state.count) : [];
  const request = describe(state.arrived++, protocol, read, { body: body ?? {}, bytes: raw.length, pieces });
  const verdict = (given: Verdict) => note(request, given, state);
  const { style, failure } = rule(incoming, read, request, { protocol, options: state.options });
  const fault = faultFor(request, state.options);
  if (fault !== undefined) {
    verdict({ kind: "fault", fault });
    const stated = failureOf(fault, { tokens: request.tokens, style });
    if (stated !== null && !(fault.kind === "stream-error" && request.stream)) {
      return deliverFailure(outgoing, protocol, stated, request.stream);
    }
  } else if (failure !== null) {
    verdict({ kind: "refused", failure });
    return deliverFailure(outgoing, protocol, failure, request.stream);
  }
  if (read.kind === "malformed") return deliverFailure(outgoing, protocol, read, false);
  const reply = await answer(request, read, pieces, state);
  if (fault === undefined) verdict({ kind: "answered", ...reply.usage });
  deliver(outgoing, protocol, reply, { stream: request.stream, fault });
}

function rule(
  incoming: IncomingMessage,
  read: ReadRequest,
  request: ProviderRequest,
  { protocol, options }: { readonly protocol: Protocol; readonly options: ProviderServerOptions },
): { style: OverflowStyle; failure: Failure | null } {
  const { window = Infinity, maxBytes = 32_000_000, rules = "strict", apiKey } = options;
  const style = options.overflow ?? protocol.overflow;
  if (apiKey !== undefined && keyOf(incoming) !== apiKey) return { style, failure: { kind: "unauthorized" } };
  const misplaced = () => (isBound(request, options) ? misplacedThought(request.body) : null);
  const law = { window, maxBytes, rules, overflow: style, misplaced };
  const failure = read.kind === "malformed" ? read : judge(read, request, law);
  return { style, failure };
}

async function answer(request: ProviderRequest, read: Readable, pieces: readonly TurnPiece[], state: State) {
  const { respond = () => "ok", window = Infinity, promptCache = "off" } = state.options;
  const key = `${request.protocol} ${request.model}`;
  const cached = promptCache === "off" ? 0 : sharedTokens(pieces, state.earlier.get(key) ?? []);
  if (promptCache === "prefix") state.earlier.set(key, pieces);
  const given = await respond(request);
  const id = `fake${request.index}`;
  const signature = isBound(request, state.options) ? boundSignature(request.body, id) : `signed-${id}`;
  const named = { id, signature, model: request.model, reportsUsage: read.reportsUsage };
  const limits = { input: request.tokens, cached, window, maxOutputTokens: read.maxOutputTokens };
  return replyOf(typeof given === "string" ? { text: given } : given, named, limits, state.count);
}

function isBound({ protocol }: ProviderRequest, { binding = "off" }: ProviderServerOptions): boolean {
  return binding === "prefix" && protocol === "anthropic";
}

function describe(
  index: number,
  protocol: Protocol,
  read: ReadRequest,
  given: { readonly body: Record<string, unknown>; readonly bytes: number; readonly pieces: readonly TurnPiece[] },
): ProviderRequest {
  const { body, bytes, pieces } = given;
  const fields =
    read.kind === "request"
      ? { model: read.model, stream: read.stream, turns: read.conversation.turns, tools: read.tools }
      : { model: String(body["model"] ?? ""), stream: body["stream"] === true, turns: [], tools: [] };
  const tokens = pieces.reduce((sum, piece) => sum + piece.tokens, 0);
  return { index, protocol: protocol.name, ...fields, tokens, bytes, body };
}

function note(request: ProviderRequest, verdict: Verdict, { requests, options }: State): void {
  const slim = options.record === "verdicts" ? { body: null, turns: [] } : {};
  requests.push({ ...request, ...slim, verdict });
}

/** Requests repeat each other: a long run counts each text once, so that exact counters stay affordable. */
function remembering(count: CountText): CountText {
  const known = new Map<string, number>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const tokens = count(text);
    if (known.size >= MOST_REMEMBERED) known.clear();
    known.set(text, tokens);
    return tokens;
  };
}

const MOST_REMEMBERED = 10_000;

function faultFor(request: ProviderRequest, { faults }: ProviderServerOptions): Fault | undefined {
  return typeof faults === "function" ? faults(request) : faults?.[request.index];
}

function keyOf({ headers }: IncomingMessage): string | undefined {
  const own = headers["x-api-key"];
  return typeof own === "string" ? own : headers.authorization?.replace(/^Bearer /, "");
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function parse(raw: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(raw.toString("utf8"));
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
