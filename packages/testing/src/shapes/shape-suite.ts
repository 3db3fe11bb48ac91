/**
 * What every shape has to keep, as cases for any test runner: `for (const { name, run } of shapeSuite(shape)) test(name, run)`.
 * A case throws where the shape breaks a promise of the port, with the seed of the conversation that shows it.
 */
import type { Part, RuleSet, Shape } from "@palimpsest/core/internal/message";
import {
  anthropicRules,
  forRequest,
  googleRules,
  openaiRules,
  repair,
  text,
  violations,
} from "@palimpsest/core/internal/message";
import { randomConversation, render } from "./conversation.ts";
import { random } from "./random.ts";

export interface ShapeCase {
  readonly name: string;
  run(): void;
}

/** A conversation for a seed, always the same. `wild`: broken in any way a list of messages can be. */
export type ShapeGenerator<M> = (seed: number, kind: "valid" | "wild") => readonly M[];

/** `generator`: by default random conversations, written by the shape itself. */
export function shapeSuite<M extends object>(
  shape: Shape<M>,
  generator: ShapeGenerator<M> = rendered(shape),
  { logs = 60 }: { readonly logs?: number } = {},
): readonly ShapeCase[] {
  const each = (
    name: string,
    kind: "valid" | "wild",
    check: (messages: readonly M[], seed: number) => void,
  ): ShapeCase => ({
    name: `${shape.dialect}: ${name}`,
    run() {
      for (let seed = 0; seed < logs; seed++) at(seed, () => check(generator(seed, kind), seed));
    },
  });
  const part = (name: string, check: (message: M) => void): ShapeCase =>
    each(name, "wild", (messages) => messages.forEach(check));
  return [
    part("a message survives JSON", (message) => same(shape.parts(copy(message)), shape.parts(message))),
    part("calls and answers are those of the parts, in order", (message) => pairsOf(message, shape)),
    part("reading and editing leave the message as it was", (message) => untouched(message, shape)),
    part("a part replaced by itself changes nothing", (message) => replacedByItself(message, shape)),
    part("a replaced part is the only one that changes, and can be put back", (message) => replaced(message, shape)),
    part("a text can stand for an image, a file or a block nobody knows", (message) => stoodFor(message, shape)),
    part("a part of another kind is refused, and so is one that isn't there", (message) => refused(message, shape)),
    part("any parts can be kept, in any order that the message has places for", (message) => selected(message, shape)),
    each("what is written is read again", "valid", (_, seed) => writtenAndRead(seed, shape)),
    each("neighbours of one speaker are joined with all they say", "wild", (messages) => joined(messages, shape)),
    each("new results answer their calls", "valid", (messages, seed) => answered(messages, seed, shape)),
    each("a result that is missing is found", "valid", (messages, seed) => missed(messages, seed, shape)),
    ...SETS.map((set) =>
      each(
        `any log is repaired for good under the ${set.name} rules, and every word of it survives`,
        "wild",
        (messages) => repaired(messages, shape, set),
      ),
    ),
  ];
}

const SETS = [openaiRules, anthropicRules, googleRules].flatMap((set) => [set, forRequest(set)]);

const rendered =
  <M>(shape: Shape<M>): ShapeGenerator<M> =>
  (seed, kind) => {
    const sizes = { messages: seed % 30, longest: 40, parallel: 5, images: 0.2, reusedIds: 0.3, signed: seed % 3 > 0 };
    const broken = kind === "wild" ? { wild: true, dangling: 0.1 } : {};
    return render(randomConversation(seed, { ...sizes, ...broken }), shape);
  };

function pairsOf<M>(message: M, shape: Shape<M>): void {
  const ids = (kind: "call" | "result") =>
    shape.parts(message).flatMap((part) => (part.kind === kind ? [(part as { id: string }).id] : []));
  same(shape.calls(message), ids("call"));
  same(shape.answers(message), ids("result"));
  if (ids("result").length > 0) same(shape.role(message), "tool");
  if (ids("call").length > 0) same(shape.role(message), "assistant");
}

function untouched<M>(message: M, shape: Shape<M>): void {
  const before = JSON.stringify(message);
  for (const [index, part] of shape.parts(message).entries()) {
    shape.withPart(message, index, changed(part));
    shape.select(message, [index]);
  }
  same(JSON.stringify(message), before);
}

function replacedByItself<M>(message: M, shape: Shape<M>): void {
  for (const [index, part] of shape.parts(message).entries()) {
    ok(shape.withPart(message, index, part) === message, `part ${index} made another message`);
  }
}

function replaced<M>(message: M, shape: Shape<M>): void {
  const parts = shape.parts(message);
  for (const [index, part] of parts.entries()) {
    const edited = shape.withPart(message, index, changed(part));
    same(shape.parts(edited), parts.with(index, changed(part)));
    const back = shape.withPart(edited, index, part);
    same(shape.parts(back), parts);
    // A result may come back in the provider's plainest spelling.
    if (part.kind !== "result") same(JSON.stringify(back), JSON.stringify(message));
  }
}

function stoodFor<M>(message: M, shape: Shape<M>): void {
  const parts = shape.parts(message);
  for (const [index, part] of parts.entries()) {
    if (part.kind !== "image" && part.kind !== "file" && part.kind !== "other") continue;
    same(shape.parts(shape.withPart(message, index, text("gone"))), parts.with(index, text("gone")));
  }
}

function refused<M>(message: M, shape: Shape<M>): void {
  const parts = shape.parts(message);
  throws(() => shape.withPart(message, parts.length, text("no")));
  for (const [index, part] of parts.entries()) {
    if (part.kind === "call" || part.kind === "result") throws(() => shape.withPart(message, index, text("no")));
  }
}

/** In which order parts can stand is the format's; that each of them is kept whole is not. */
function selected<M>(message: M, shape: Shape<M>): void {
  const parts = shape.parts(message);
  const all = [...parts.keys()];
  same(shape.parts(shape.select(message, all)), parts);
  for (const index of all) same(shape.parts(shape.select(message, [index])), [parts[index]]);
  if (!parts.some(({ kind }) => kind === "result")) same(shape.parts(shape.select(message, [])), []);
  const turned = shape.parts(shape.select(message, all.toReversed()));
  same(turned.map(written).sort(), parts.map(written).sort());
}

function writtenAndRead<M>(seed: number, shape: Shape<M>): void {
  for (const { role, parts } of randomConversation(seed, { messages: 8, longest: 30, images: 0.3 })) {
    const made = shape.make(role, parts);
    same(shape.role(made[0]!), role);
    const read = made.flatMap((message) => shape.parts(message));
    same(words(read), words(parts));
    for (const kind of ["call", "result"] as const) same(idsOf(read, kind), idsOf(parts, kind));
    same(pictures(read), pictures(parts));
  }
}

function joined<M>(messages: readonly M[], shape: Shape<M>): void {
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1];
    if (before === undefined || shape.role(before) === "tool" || shape.role(message) !== shape.role(before)) continue;
    const both = shape.parts(shape.join(before, message));
    const apart = [...shape.parts(before), ...shape.parts(message)];
    same(words(both).join("").replaceAll(/\s/g, ""), words(apart).join("").replaceAll(/\s/g, ""));
    for (const kind of ["call", "result"] as const) same(idsOf(both, kind), idsOf(apart, kind));
  }
  const turn = shape.parts(shape.join(shape.turn("user", "one"), shape.turn("user", "two")));
  same(words(turn), ["one", "two"]);
}

function answered<M>(messages: readonly M[], seed: number, shape: Shape<M>): void {
  for (const message of messages) {
    const ids = shape.calls(message);
    if (ids.length === 0) continue;
    const made = shape.results(ids.map((id) => ({ id, name: "read", text: `of ${id} ${seed}`, isError: false })));
    same(
      made.flatMap((one) => shape.answers(one)),
      ids,
    );
    same(violations([shape.turn("user", "go"), message, ...made], shape, openaiRules), []);
  }
}

function missed<M>(messages: readonly M[], seed: number, shape: Shape<M>): void {
  const place = messages.findIndex((message) => shape.answers(message).length > 0);
  if (place < 0) return;
  const index = shape.parts(messages[place]!).findIndex(({ kind }) => kind === "result");
  const kept = [...shape.parts(messages[place]!).keys()].filter((at) => at !== index);
  const torn = messages.toSpliced(place, 1, ...(kept.length > 0 ? [shape.select(messages[place]!, kept)] : []));
  ok(
    violations(torn, shape, openaiRules).some(({ rule }) => rule === "paired"),
    `seed ${seed}: nothing was missed`,
  );
}

function repaired<M>(messages: readonly M[], shape: Shape<M>, set: RuleSet): void {
  const draw = random(messages.length);
  const given = messages.map((message) => {
    const order = [...shape.parts(message).keys()];
    return order.length > 1 && draw.chance(0.1) ? shape.select(message, order.toReversed()) : message;
  });
  const { messages: valid, repairs } = repair(given, shape, set);
  same(violations(valid, shape, set), []);
  ok(repair(valid, shape, set).messages === valid, "a repaired list was repaired again");
  same(repairs.length === 0, violations(given, shape, set).length === 0);
  const left = valid.flatMap((message) => shape.parts(message));
  const said = left.map((part) => ("text" in part ? part.text : "")).join("\u0000");
  const inputs = left.flatMap((part) => (part.kind === "call" ? [part.input] : []));
  for (const part of given.flatMap((message) => shape.parts(message))) {
    if (part.kind === "text") ok(said.includes(part.text.trim()), `lost: ${part.text}`);
    if (part.kind === "result") ok(said.includes(part.text), `lost: ${part.text}`);
    if (part.kind === "call") ok(inputs.includes(part.input), `lost: ${part.input}`);
  }
  const [before, after] = [given, valid].map((list) => list.flatMap((message) => pictures(shape.parts(message))));
  for (const picture of before!) ok(after!.includes(picture), "lost an image");
}

/** Another text or input in its place, as an edit of one part makes it. */
export function changed(part: Part): Part {
  switch (part.kind) {
    case "text":
    case "result":
      return { ...part, text: `${part.text}!` };
    case "call":
      return { ...part, input: '{"changed":true}' };
    default:
      return part;
  }
}

const words = (parts: readonly Part[]): string[] =>
  parts.flatMap((part) => (part.kind === "text" ? part.text.split(/\n+/) : []));

const idsOf = (parts: readonly Part[], kind: "call" | "result"): string[] =>
  parts.flatMap((part) => (part.kind === kind ? [(part as { id: string }).id] : []));

const pictures = (parts: readonly Part[]): string[] =>
  parts
    .flatMap((part) => (part.kind === "image" ? [part] : part.kind === "result" ? part.images : []))
    .map(({ source }) => JSON.stringify(source))
    .sort();

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const written = (part: Part): string => JSON.stringify(part);

function at(seed: number, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function ok(holds: boolean, message: string): void {
  if (!holds) throw new Error(message);
}

function same(actual: unknown, wanted: unknown): void {
  const [found, should] = [JSON.stringify(actual), JSON.stringify(wanted)];
  ok(found === should, `it is ${found}, not ${should}`);
}

function throws(act: () => unknown): void {
  let thrown = false;
  try {
    act();
  } catch {
    thrown = true;
  }
  ok(thrown, "it was accepted");
}
