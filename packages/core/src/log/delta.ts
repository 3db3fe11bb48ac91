/**
 * What changed between two JSON values, as JSON, so that a record can hold what is new instead of everything again.
 * `applyDelta(a, deltaOf(a, b))` is b, whatever both are; how short the delta is depends on how alike they are. Its
 * spelling belongs to the log's format and is read for ever. Applying never throws: a delta that doesn't fit the value it
 * meets (somebody damaged one of them) gives what can be made of it.
 */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

interface JsonObject {
  readonly [field: string]: Json;
}

export type Delta =
  | { readonly to: Json }
  /** The object before, with these fields new or changed and those gone. */
  | { readonly fields: Readonly<Record<string, Delta>>; readonly gone?: readonly string[] }
  /** A list, put together from pieces in order. */
  | { readonly list: readonly DeltaPiece[] };

type DeltaPiece =
  /** So many elements of the list before, from that index on. */
  | readonly [first: number, count: number]
  | { readonly add: readonly Json[] }
  /** One element of the list before, changed. */
  | { readonly of: number; readonly now: Delta };

export function deltaOf(before: Json, after: Json): Delta {
  if (Array.isArray(before) && Array.isArray(after)) return { list: pieces(before, after) };
  if (isObject(before) && isObject(after)) return changedFields(before, after);
  return { to: after };
}

export function applyDelta(before: Json, delta: Delta): Json {
  if ("to" in delta) return delta.to;
  if ("list" in delta) {
    const list = Array.isArray(before) ? (before as readonly Json[]) : [];
    return delta.list.flatMap((piece) => elements(list, piece));
  }
  const gone = new Set(delta.gone);
  const fields = new Map(Object.entries(isObject(before) ? before : {}).filter(([name]) => !gone.has(name)));
  for (const [name, change] of Object.entries(delta.fields))
    fields.set(name, applyDelta(fields.get(name) ?? null, change));
  return Object.fromEntries(fields);
}

function elements(list: readonly Json[], piece: DeltaPiece): readonly Json[] {
  if ("add" in piece) return piece.add;
  if ("of" in piece) return piece.of < list.length ? [applyDelta(list[piece.of]!, piece.now)] : [];
  return list.slice(piece[0], piece[0] + piece[1]);
}

function changedFields(before: JsonObject, after: JsonObject): Delta {
  const fields: [string, Delta][] = [];
  for (const [name, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, name) ? before[name]! : undefined;
    if (old === undefined) fields.push([name, { to: value }]);
    else if (spell(old) !== spell(value)) fields.push([name, shorter(deltaOf(old, value), value)]);
  }
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  return { fields: Object.fromEntries(fields), ...(gone.length > 0 && { gone }) };
}

/** Elements are found again by their spelling, wherever they stood; changed ones by what names them. */
function pieces(before: readonly Json[], after: readonly Json[]): DeltaPiece[] {
  const spelled = before.map(spell);
  const places = new Map(spelled.map((text, index) => [text, index] as const).reverse());
  const named = new Map(before.flatMap((element, index) => namesOf(element).map((name) => [name, index] as const)));
  const found: DeltaPiece[] = [];
  let next = -1;
  for (const element of after) {
    const text = spell(element);
    const last = found.at(-1);
    if (spelled[next] === text && Array.isArray(last)) {
      found[found.length - 1] = [last[0], last[1] + 1];
      next += 1;
      continue;
    }
    const place = places.get(text);
    next = place === undefined ? -1 : place + 1;
    if (place !== undefined) found.push([place, 1]);
    else {
      const change = changedElement(element, before, named);
      if (change !== null) found.push(change);
      else if (last !== undefined && "add" in last) (last.add as Json[]).push(element);
      else found.push({ add: [element] });
    }
  }
  return found;
}

function changedElement(element: Json, before: readonly Json[], named: ReadonlyMap<string, number>): DeltaPiece | null {
  const [name] = namesOf(element);
  const of = name === undefined ? undefined : named.get(name);
  if (of === undefined) return null;
  const piece = { of, now: deltaOf(before[of]!, element) };
  return JSON.stringify(piece).length < spell(element).length ? piece : null;
}

/** Fields by which the elements of a list are told apart; the first that an element has. */
const NAMING = ["id", "path", "what"];

function namesOf(element: Json): string[] {
  if (!isObject(element)) return [];
  const field = NAMING.find((name) => typeof element[name] === "string");
  return field === undefined ? [] : [`${field} ${element[field] as string}`];
}

function shorter(delta: Delta, value: Json): Delta {
  return JSON.stringify(delta).length < spell({ to: value }).length ? delta : { to: value };
}

function spell(value: Json): string {
  return JSON.stringify(value);
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
