/**
 * The repair of the rule that all providers share: a message's calls are answered directly after it. Each result is first
 * assigned to the call it answers; then every assistant message is written with all its results behind it: those that stood
 * there, those that stood elsewhere, and an error result for each call without one. A result without a call is quoted in
 * a user turn, so that the model still reads it.
 */
import type { Item, RepairContext } from "./repair.ts";
import { interrupts, isContent } from "./rules.ts";
import type { CallPart, Part, ResultPart, Shape } from "./shape.ts";

const INTERRUPTED = "This call was interrupted; no result was recorded.";

export function pairUp<M>(items: readonly Item<M>[], context: RepairContext<M>): readonly Item<M>[] {
  const entries = assign(items, context);
  const written: Item<M>[] = [];
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index]!;
    if (entry.kind === "source") written.push(...leftover(entry, context));
    else written.push(entry.item);
    if (entry.kind !== "caller") continue;
    const behind: Source<M>[] = [];
    for (let next = entries[index + 1]; next?.kind === "source"; next = entries[++index + 1]) behind.push(next);
    written.push(...answers(entry, behind, context));
  }
  return written;
}

/** An assistant message with calls. */
interface CallOwner<M> {
  readonly kind: "caller";
  readonly item: Item<M>;
  /** Calls not answered anywhere. */
  readonly open: Set<CallPart>;
  readonly sources: Set<Source<M>>;
}

/** A message with results. */
interface Source<M> {
  readonly kind: "source";
  readonly item: Item<M>;
  readonly parts: readonly Part[];
  /** By part index: whom the result answers. */
  readonly callers: Map<number, CallOwner<M>>;
  /** Indices of parts that have found their place. */
  readonly settled: Set<number>;
}

type PairingEntry<M> = CallOwner<M> | Source<M> | { readonly kind: "plain"; readonly item: Item<M> };

/** A result answers the latest unanswered call of its id. Of calls that share an id in one message, the later get a new one. */
function assign<M>(items: readonly Item<M>[], context: RepairContext<M>): readonly PairingEntry<M>[] {
  const waiting = new Map<string, { caller: CallOwner<M>; call: CallPart }[]>();
  const accepted = new Map<string, string>();
  return items.map((item): PairingEntry<M> => {
    if (context.shape.role(item.message) === "tool") return readSource(item);
    return context.shape.calls(item.message).length === 0 ? { kind: "plain", item } : readCaller(item);
  });

  function readCaller(item: Item<M>): CallOwner<M> {
    const { message, calls } = uniqueCalls(item, context);
    const caller: CallOwner<M> = {
      kind: "caller",
      item: message === item.message ? item : { ...item, message },
      open: new Set(calls.map(({ call }) => call)),
      sources: new Set(),
    };
    for (const { givenId } of calls) waiting.set(givenId, []);
    for (const { givenId, call } of calls) waiting.get(givenId)!.push({ caller, call });
    return caller;
  }

  function readSource(item: Item<M>): Source<M> {
    const callers = new Map<number, CallOwner<M>>();
    const settled = new Set<number>();
    const renamed = new Map<number, ResultPart>();
    for (const [index, part] of context.shape.parts(item.message).entries()) {
      if (part.kind !== "result") continue;
      const answered = waiting.get(part.id)?.shift();
      if (answered !== undefined) {
        const { caller, call } = answered;
        callers.set(index, caller);
        caller.open.delete(call);
        accepted.set(part.id, part.text);
        if (call.id !== part.id) renamed.set(index, { ...part, id: call.id });
      } else if (accepted.get(part.id) === part.text && part.images.length === 0) {
        context.note("duplicate-dropped", item.at, `the same result for ${part.id} again`);
        settled.add(index);
      }
    }
    const message = withNewIds(item.message, renamed, context.shape);
    const same = message === item.message;
    const parts = context.shape.parts(message);
    const source: Source<M> = { kind: "source", item: same ? item : { ...item, message }, parts, callers, settled };
    for (const caller of callers.values()) caller.sources.add(source);
    return source;
  }
}

function uniqueCalls<M>({ message, at }: Item<M>, { shape, note }: RepairContext<M>) {
  const taken = new Set(shape.calls(message));
  const seen = new Set<string>();
  const calls: { givenId: string; call: CallPart }[] = [];
  const renamed = new Map<number, CallPart>();
  const next = new Map<string, number>();
  for (const [index, part] of shape.parts(message).entries()) {
    if (part.kind !== "call") continue;
    let call = part;
    for (let n = next.get(part.id) ?? 2; seen.has(call.id); n++) {
      if (!taken.has(`${part.id}-${n}`)) call = { ...part, id: `${part.id}-${n}` };
      next.set(part.id, n);
    }
    seen.add(call.id);
    if (call !== part) {
      note("call-renamed", at, `a second call ${part.id} is now ${call.id}`);
      renamed.set(index, call);
    }
    calls.push({ givenId: part.id, call });
  }
  return { message: withNewIds(message, renamed, shape), calls };
}

function withNewIds<M>(message: M, renamed: ReadonlyMap<number, Part>, shape: Shape<M>): M {
  if (renamed.size > 0 && shape.withParts !== undefined) return shape.withParts(message, renamed);
  return [...renamed].reduce((one, [index, part]) => shape.withPart(one, index, part), message);
}

/** The results of one caller, then whatever else stood in the messages behind it. */
function answers<M>(caller: CallOwner<M>, behind: readonly Source<M>[], context: RepairContext<M>): readonly Item<M>[] {
  const here = new Set(behind);
  const elsewhere = [...caller.sources].filter((source) => !here.has(source));
  const inPlace = behind.filter((source) => caller.sources.has(source) || source.parts.every(isNeutral));
  const missing = [...caller.open];
  const isLast = (source: Source<M>) => elsewhere.length + missing.length === 0 && source === inPlace.at(-1);
  const written = [
    ...inPlace.map((source) => {
      const whole = isLast(source) && isTidy(source, caller);
      return take(source, (part, index) => whole || isNeutral(part) || source.callers.get(index) === caller, context);
    }),
    ...elsewhere.map((source) => {
      context.note("result-moved", source.item.at, "a result moved behind its call");
      return take(source, (_, index) => source.callers.get(index) === caller, context);
    }),
  ];
  for (const { id } of missing) context.note("result-synthesized", caller.item.at, `call ${id} had no result`);
  const results = context.shape.results(
    missing.map(({ id, name }) => ({ id, name, text: INTERRUPTED, isError: true })),
  );
  return [
    ...written,
    ...(missing.length > 0 ? results.map((message) => ({ message, at: caller.item.at })) : []),
    ...behind.flatMap((source) => leftover(source, context)),
  ];
}

/** Blocks we don't interpret stay where they are, between results too. */
const isNeutral = (part: Part): boolean => part.kind === "other";

/** Nothing but this caller's results, and other content only after them. */
function isTidy<M>(source: Source<M>, caller: CallOwner<M>): boolean {
  if (source.settled.size > 0) return false;
  const strange = source.parts.some((part, index) => part.kind === "result" && source.callers.get(index) !== caller);
  const content = source.parts.findIndex(interrupts);
  return !strange && (content < 0 || !source.parts.slice(content).some((part) => part.kind === "result"));
}

function take<M>(
  source: Source<M>,
  wanted: (part: Part, index: number) => boolean,
  { shape }: RepairContext<M>,
): Item<M> {
  const indices = [...source.parts.keys()].filter(
    (index) => !source.settled.has(index) && wanted(source.parts[index]!, index),
  );
  for (const index of indices) source.settled.add(index);
  if (indices.length === source.parts.length) return source.item;
  return { ...source.item, message: shape.select(source.item.message, indices) };
}

/** What has found no place: results without a call as a quotation, the rest as it is. */
function leftover<M>(source: Source<M>, context: RepairContext<M>): readonly Item<M>[] {
  const { at } = source.item;
  const strays = source.parts.filter(
    (part, index): part is ResultPart => part.kind === "result" && !source.settled.has(index),
  );
  const quotes = strays.flatMap((part) => {
    context.note("result-quoted", at, `result ${part.id} has no call`);
    const text = `A tool result whose call is not in this conversation (id ${part.id}):\n${part.text}`;
    return context.shape.make("user", [{ kind: "text", text }, ...part.images]);
  });
  const rest = source.parts.some((part, index) => isRest(part) && !source.settled.has(index));
  if (rest && source.settled.size > 0) context.note("content-moved", at, "other content moved behind the results");
  const remainder = rest ? [take(source, isRest, context)] : [];
  if (source.parts.some((part, index) => part.kind !== "result" && !source.settled.has(index))) {
    context.note("blank-removed", at, "blank text between results");
  }
  return [...quotes.map((message) => ({ message, at })), ...remainder];
}

/** An empty text would become an empty message. */
const isRest = (part: Part): boolean => part.kind !== "result" && isContent(part);
