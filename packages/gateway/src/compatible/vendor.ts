/**
 * The port between the compatible endpoints and a vendor's protocol: what a request says, where its messages stand, how an
 * answer is read while its bytes pass by, and what an error looks like. Adapters translate; they decide nothing.
 */
import type { Shape } from "@palimpsest/core/internal/message";
import type { PromptCache } from "palimpsest/session";
import type { JsonFields } from "../http/read-json.ts";
import type { AnswerWriter } from "./converted-answer.ts";
import type { CheckedMessages } from "./front.ts";
import type { VendorTools } from "./own-tools/stitch.ts";
import type { ParsedRequest } from "./request.ts";

export interface Vendor<M extends object> {
  readonly name: "openai-chat" | "openai-responses" | "anthropic";
  readonly shape: Shape<M>;
  /** Below `/v1`, here and at the vendor. */
  readonly path: string;
  /** The path that counts tokens; null if the vendor has none. */
  readonly countPath: string | null;
  /** The field of the body that holds the messages. */
  readonly field: string;
  /** Which providers of a configuration speak it. */
  readonly providers: readonly string[];
  /** Where the vendor itself is. */
  readonly address: string;
  key(key: string): Readonly<Record<string, string>>;
  /** `checked`: messages of the list that were read before and found good. */
  read(body: JsonFields, checked: CheckedMessages | null): VendorRequestResult<M>;
  /** The value of the field for a prompt of ours. */
  write(prompt: WrittenPrompt<M>): unknown;
  /** What the vendor's cache will find of it again, and for how long where the client says so; absent: any prefix. */
  cached?(
    body: JsonFields,
    request: VendorRequest<M>,
  ): { readonly promptCache: PromptCache; readonly ttl: "1h" | null };
  reader(form: "stream" | "whole"): AnswerReader<M>;
  /** How tools of ours stand in its requests, and how an answer with calls to them is shown without these. */
  readonly tools: VendorTools;
  /** Whether the request takes thoughts of earlier answers back. */
  thinks(body: JsonFields): boolean;
  /** For an answer of another vendor's model. */
  writer(options: AnswerWriterOptions): AnswerWriter;
  failure(failure: VendorFailure): unknown;
  /** The same in a stream that has begun. */
  streamFailure(failure: VendorFailure): string;
  /** `original`: what it was before the request's own edits; null: it asks for none. */
  counted(tokens: number, original: number | null): unknown;
  /** What was added to questions, in the place that the vendor has for it; absent: it stays with them. Nothing is written. */
  carry?(messages: readonly M[], added: readonly string[], headers: Headers): readonly M[];
  /** The messages after the edits that the request itself asks for; null: none are. For counting: nothing is written. */
  edited?(parsed: ParsedRequest<M>, messages: readonly M[]): readonly M[] | null;
  /**
   * The request with what it says of conversations that the vendor's own server would hold, found in the log; as it
   * is where it says nothing, or names what only the vendor knows. Absent: the vendor holds nothing. Throws a refusal.
   */
  hold?(parsed: ParsedRequest<M>): Promise<ParsedRequest<M>>;
  /** Called when server-side state is disabled. Throws if the request depends on it. */
  leave?(parsed: ParsedRequest<M>): void;
}

export interface AnswerWriterOptions {
  readonly id: string;
  readonly model: string;
  readonly body: JsonFields;
}

export type VendorRequestResult<M> =
  | { readonly kind: "request"; readonly request: VendorRequest<M> }
  | { readonly kind: "problem"; readonly message: string };

export interface VendorRequest<M> {
  readonly model: string;
  readonly stream: boolean;
  /** System messages before the first of the conversation: they are sent as they came, and not kept. */
  readonly leading: readonly unknown[];
  readonly messages: readonly M[];
  readonly system: string;
  readonly tools: readonly unknown[];
  readonly maxTokens: number | null;
  /** What the vendor would look up itself instead of reading it here; null: all is in the messages. */
  readonly reference: string | null;
}

export interface WrittenPrompt<M> {
  readonly body: JsonFields;
  readonly request: VendorRequest<M>;
  readonly messages: readonly M[];
  /** Of the messages, those that the last prunings end with: marks for the prompt cache pay there. */
  readonly cuts?: readonly M[] | undefined;
}

export interface AnswerReader<M> {
  /** The next bytes, or the last ones. */
  read(bytes: Uint8Array): void;
  /** The answer's, without putting the answer together: it is asked for with every piece. */
  state(): ReadAnswer<M>["state"];
  answer(): ReadAnswer<M>;
}

export interface ReadAnswer<M> {
  /** Null: nothing was said. */
  readonly message: M | null;
  readonly usage: object | null;
  /** `ending`: the vendor said why it stopped. `failed`: it said that it can't go on. */
  readonly state: "open" | "ending" | "ended" | "failed";
  readonly error: string | null;
}

export interface VendorFailure {
  readonly status: number;
  /** As our own API has it: `too-large`, `bad-key`. */
  readonly code: string;
  readonly message: string;
  readonly param?: string | null;
}
