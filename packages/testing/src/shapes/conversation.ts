/**
 * Random conversations for property tests, the same for the same seed. A script is neutral (roles and parts) and is
 * rendered in any shape, so one case runs on every provider's messages. Valid by default; `wild` breaks it on purpose.
 */
import type { CallPart, Part, ResultPart, Role, Shape } from "@palimpsest/core/internal/message";
import { type Random, random } from "./random.ts";
import { hash, output, path, picture, prose } from "./text.ts";

export interface ScriptMessage {
  readonly role: Role;
  readonly parts: readonly Part[];
}

export interface ConversationOptions {
  /** At least so many script messages; the last group of calls is finished. */
  readonly messages?: number;
  /** Lengths of texts are spread evenly over the orders of magnitude up to this many characters. */
  readonly longest?: number;
  /** The chance that an assistant message calls tools; the rest answer the user. */
  readonly tools?: number;
  /** Most calls in one message; most groups stay far below it. */
  readonly parallel?: number;
  readonly images?: number;
  /** The chance of thinking before an answer or a call, whether it is signed, and by whom. */
  readonly reasoning?: number;
  readonly signed?: boolean;
  readonly signer?: string;
  readonly system?: number;
  /** The chance that a call takes an id that was used before. */
  readonly reusedIds?: number;
  /** The chance that a call is never answered. Above 0 the conversation is not valid. */
  readonly dangling?: number;
  /** Breaks the conversation in many ways: see `wreck`. */
  readonly wild?: boolean;
}

const DEFAULTS: Required<ConversationOptions> = {
  messages: 20,
  longest: 4000,
  tools: 0.7,
  parallel: 4,
  images: 0.05,
  reasoning: 0.3,
  signed: true,
  signer: "anthropic",
  system: 0.5,
  reusedIds: 0.1,
  dangling: 0,
  wild: false,
};

export function randomConversation(seed: number, options: ConversationOptions = {}): readonly ScriptMessage[] {
  const chosen = { ...DEFAULTS, ...options };
  const draw = random(seed);
  const script: ScriptMessage[] = [];
  const writer = new ConversationWriter(draw, chosen);
  if (draw.chance(chosen.system)) script.push({ role: "system", parts: [writer.text()] });
  while (script.length < chosen.messages) {
    const last = script.at(-1)?.role ?? "system";
    if (last === "system" || last === "assistant") script.push(writer.user());
    else if (draw.chance(chosen.tools)) script.push(...writer.toolGroup());
    else script.push(writer.answer());
  }
  return chosen.wild ? wreck(script, draw, writer) : script;
}

export function render<M>(script: readonly ScriptMessage[], shape: Shape<M>): readonly M[] {
  return script.flatMap(({ role, parts }) => shape.make(role, parts));
}

class ConversationWriter {
  readonly #draw: Random;
  readonly #options: Required<ConversationOptions>;
  readonly #ids: string[] = [];

  constructor(draw: Random, options: Required<ConversationOptions>) {
    this.#draw = draw;
    this.#options = options;
  }

  text(): Part {
    return { kind: "text", text: prose(this.#draw, this.#length()) };
  }

  user(): ScriptMessage {
    const image = this.#draw.chance(this.#options.images) ? [picture(this.#draw)] : [];
    return { role: "user", parts: [this.text(), ...image] };
  }

  answer(): ScriptMessage {
    return { role: "assistant", parts: [...this.#thinking(), this.text()] };
  }

  /** An assistant message with calls, and the message that answers them. */
  toolGroup(): readonly ScriptMessage[] {
    const calls = this.#calls();
    const said = this.#draw.chance(0.4) ? [this.text()] : [];
    const answered = calls.filter(() => !this.#draw.chance(this.#options.dangling));
    const caller: ScriptMessage = { role: "assistant", parts: [...this.#thinking(), ...said, ...calls] };
    return answered.length === 0
      ? [caller]
      : [caller, { role: "tool", parts: answered.map((call) => this.result(call)) }];
  }

  result({ id, name }: Pick<CallPart, "id" | "name">): ResultPart {
    const isError = this.#draw.chance(0.1);
    const images = !isError && this.#draw.chance(this.#options.images) ? [picture(this.#draw)] : [];
    return { kind: "result", id, name, text: output(this.#draw, this.#length()), isError, images };
  }

  #calls(): readonly CallPart[] {
    const width = this.#draw.chance(0.5) ? 1 : this.#spread(this.#options.parallel);
    const calls = new Map<string, CallPart>();
    while (calls.size < width) {
      const reuse = this.#ids.length > 0 && this.#draw.chance(this.#options.reusedIds);
      const id = reuse ? this.#draw.pick(this.#ids) : `call_${hash(this.#draw).slice(0, 24)}`;
      if (!reuse) this.#ids.push(id);
      calls.set(id, { kind: "call", id, ...this.#request() });
    }
    return [...calls.values()];
  }

  #request(): { name: string; input: string } {
    const name = this.#draw.pick(["read", "read", "edit", "bash", "grep"]);
    const file = path(this.#draw);
    if (name === "read") return { name, input: JSON.stringify({ path: file }) };
    if (name === "bash") return { name, input: JSON.stringify({ command: `npm test -- ${file}` }) };
    if (name === "grep") return { name, input: JSON.stringify({ pattern: prose(this.#draw, 8), path: file }) };
    return { name, input: JSON.stringify({ path: file, text: output(this.#draw, this.#length()) }) };
  }

  #thinking(): readonly Part[] {
    if (!this.#draw.chance(this.#options.reasoning)) return [];
    const redacted = this.#options.signed && this.#draw.chance(0.1);
    const text = redacted ? "" : prose(this.#draw, this.#length());
    const signature = this.#options.signed ? hash(this.#draw) : null;
    return [{ kind: "reasoning", text, signature, signedBy: signature && this.#options.signer, redacted }];
  }

  #length(): number {
    return this.#spread(this.#options.longest);
  }

  /** From 1 to `most`, every order of magnitude as likely as the next. */
  #spread(most: number): number {
    return Math.max(1, Math.round(most ** this.#draw.next()));
  }
}

/** Lost, doubled, swapped and split messages, orphans, blanks, late system messages, user text among the results. */
function wreck(script: ScriptMessage[], draw: Random, writer: ConversationWriter): readonly ScriptMessage[] {
  const wrecked = [...script];
  for (let blows = draw.int(1, 2 + script.length / 3); blows > 0; blows--) {
    const at = draw.int(0, Math.max(0, wrecked.length - 1));
    draw.pick(BLOWS)(wrecked, at, draw, writer);
  }
  return wrecked;
}

type Blow = (script: ScriptMessage[], at: number, draw: Random, writer: ConversationWriter) => void;

const BLOWS: readonly Blow[] = [
  (script, at) => script.splice(at, 1),
  (script, at, draw) => script.splice(draw.int(0, script.length), 0, ...script.slice(at, at + 1)),
  (script, at) => script.splice(at, 2, ...script.slice(at, at + 2).reverse()),
  (script, at) => script.splice(0, at),
  (script, at) => script.splice(at + 1),
  (script, at, _, writer) => script.splice(at, 0, { role: "system", parts: [writer.text()] }),
  (script, at, _, writer) => script.splice(at, 0, writer.user()),
  (script, at, draw) => script.splice(at, 0, { role: draw.pick(["user", "assistant"]), parts: [] }),
  (script, at, draw, writer) => {
    script.splice(at, 0, { role: "tool", parts: [writer.result({ id: `lost_${draw.int(0, 3)}`, name: "read" })] });
  },
  (script, at, draw) => editParts(script, at, (parts) => [...parts, { kind: "text", text: draw.pick(["", " \n"]) }]),
  (script, at, draw) => editParts(script, at, (parts) => parts.toSpliced(draw.int(0, parts.length), 1)),
  (script, at) => editParts(script, at, (parts) => parts.toReversed()),
  (script, at) => editParts(script, at, (parts) => [...parts, ...parts.slice(-1)]),
  (script, at, _, writer) => editParts(script, at, (parts) => [writer.text(), ...parts]),
  (script, at, draw) => {
    const message = script[at];
    if (message === undefined) return;
    const cut = draw.int(0, message.parts.length);
    const halves = [message.parts.slice(0, cut), message.parts.slice(cut)];
    script.splice(at, 1, ...halves.map((parts) => ({ ...message, parts })));
  },
];

function editParts(script: ScriptMessage[], at: number, edit: (parts: readonly Part[]) => readonly Part[]): void {
  const message = script[at];
  if (message !== undefined) script[at] = { ...message, parts: edit(message.parts) };
}
