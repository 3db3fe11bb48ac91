/**
 * What of a document goes for good, with turns that were erased or facts that are forgotten with their words: the facts
 * that rest on them, what sections took from them, and every trace of both in the audit. The turns are fenced. Pure, and
 * the same again when run again: what went is still known by its id.
 */
import { type Change, ERASED, type NewChange } from "./changes.ts";
import type { Fact, MemoryDocument, SectionPath } from "./document.ts";
import { SECTION_PATHS, sectionText } from "./document.ts";
import { meaning } from "./likeness.ts";

export interface MemoryErasureRequest {
  /** Turns that were erased, as `thread#seq`. */
  readonly refs: ReadonlySet<string>;
  /** Facts that go whatever they rest on. */
  readonly ids?: ReadonlySet<string>;
  /** Turns that stay and that nothing is learned from any more. */
  readonly fences?: Iterable<string>;
  /** Whether a fact that rests on other turns as well is carried by those alone. */
  readonly carried?: (fact: Fact) => boolean;
}

export interface MemoryErasure {
  /** Of every fact that goes or went, with the words of those that are still there. */
  readonly ids: ReadonlySet<string>;
  readonly contents: readonly string[];
  /** Whether a section changes, or did at an earlier run: what was rendered of the document before may hold it. */
  readonly sections: boolean;
  /** Everything went before. */
  readonly done: boolean;
  readonly changes: readonly NewChange[];
  readonly also: (document: MemoryDocument) => MemoryDocument;
}

export function planMemoryErasure(document: MemoryDocument, request: MemoryErasureRequest): MemoryErasure {
  const { refs } = request;
  const remaining = document.facts.filter((fact) => staysWithout(fact, request));
  const keptIds = new Set(remaining.map(({ id }) => id));
  const ids = new Set([...restingOn(document, request)].filter((id) => !keptIds.has(id)));
  const gone = document.facts.filter(({ id }) => ids.has(id));
  const audited = (document.changes ?? []).flatMap((change) =>
    change.on === "fact" && ids.has(change.target) ? [change.before, change.after] : [],
  );
  const contents = [...new Set([...gone, ...audited].flatMap((fact) => (fact ? [fact.content] : [])))];
  const sections = SECTION_PATHS.flatMap((path) => erasedSection(document, path, refs, contents) ?? []);
  const fences = [...refs, ...(request.fences ?? [])];
  const changes: NewChange[] = [
    ...gone.map((fact): NewChange => {
      const sources = fact.sourceMessageIds ?? [];
      return { kind: "forget", on: "fact", target: fact.id, before: fact, after: null, sources };
    }),
    ...remaining.map((fact): NewChange => {
      const after = { ...fact, sourceMessageIds: fact.sourceMessageIds!.filter((ref) => !refs.has(ref)) };
      return { kind: "edit", on: "fact", target: fact.id, before: fact, after, sources: [...refs] };
    }),
    ...sections.flatMap(({ path, text }): NewChange[] => {
      const before = sectionText(document, path);
      return text === before
        ? []
        : [{ kind: "rewrite", on: "section", target: path, before, after: text, sources: [...refs] }];
    }),
  ];
  const changeIds = new Set(document.changes?.map(({ id }) => id));
  return {
    ids,
    contents,
    changes,
    sections: sections.length > 0 || (document.changes ?? []).some((change) => wasErased(change, refs)),
    done:
      changes.length + contents.length + sections.length === 0 && fences.every((ref) => document.fenced?.includes(ref)),
    also: (next) => ({ ...withoutTraces(next, ids, sections, changeIds), ...fenced(next, fences) }),
  };
}

/** Ids of the facts that went with their words, as far as the audit still names them. */
export function erasedFacts({ changes = [] }: MemoryDocument): ReadonlySet<string> {
  return new Set(changes.flatMap(({ on, note, target }) => (on === "fact" && note === ERASED ? [target] : [])));
}

function wasErased({ on, note, sources }: Change, refs: ReadonlySet<string>): boolean {
  return on === "section" && note === ERASED && sources.some((ref) => refs.has(ref));
}

function fenced(document: MemoryDocument, fences: readonly string[]): Pick<MemoryDocument, "fenced"> {
  return fences.length === 0 ? {} : { fenced: [...new Set([...(document.fenced ?? []), ...fences])] };
}

/** Ids of the facts that are asked for or rest on one of the turns, also of those that are only in the audit any more. */
function restingOn(document: MemoryDocument, { refs, ids }: MemoryErasureRequest): Set<string> {
  const found = new Set(ids);
  const rests = (fact: Fact | null): boolean => fact?.sourceMessageIds?.some((ref) => refs.has(ref)) ?? false;
  for (const fact of document.facts) if (rests(fact)) found.add(fact.id);
  for (const change of document.changes ?? []) {
    if (change.on !== "fact") continue;
    const named = OWN_SOURCES.has(change.kind) && change.sources.some((ref) => refs.has(ref));
    if (named || rests(change.before) || rests(change.after)) found.add(change.target);
  }
  return found;
}

/** Changes whose sources are the target's own, and not those of what took its place. */
const OWN_SOURCES: ReadonlySet<Change["kind"]> = new Set(["add", "confirm", "forget"]);

function staysWithout(fact: Fact, { refs, ids, carried }: MemoryErasureRequest): boolean {
  const sources = fact.sourceMessageIds ?? [];
  if (ids?.has(fact.id) || !sources.some((ref) => refs.has(ref))) return false;
  return sources.some((ref) => !refs.has(ref)) && (carried?.(fact) ?? false);
}

interface ErasedSection {
  readonly path: SectionPath;
  readonly text: string;
  /** The first change of the audit that holds the words; those after it may hold them too. */
  readonly first: string | null;
}

/**
 * A text that was rewritten with one of the turns in sight goes back to what it said before, unless a person has written
 * it since. Any other loses the sentences that say what a fact said. Null: nothing to do.
 */
function erasedSection(
  document: MemoryDocument,
  path: SectionPath,
  refs: ReadonlySet<string>,
  contents: readonly string[],
): ErasedSection | null {
  const history = (document.changes ?? []).filter((change) => change.on === "section" && change.target === path);
  const words = (change: Change): string[] => (change.on === "section" ? [change.before, change.after] : []);
  const first = history.find((change) => change.sources.some((ref) => refs.has(ref)) && words(change).join("") !== "");
  const byHand = history.at(-1)?.by !== "conversation";
  const now = sectionText(document, path);
  const before = first === undefined || byHand ? now : words(first)[0]!;
  const text = without(before, contents);
  const quoted = first ?? history.find((change) => words(change).some((one) => without(one, contents) !== one));
  return text === now && quoted === undefined ? null : { path, text, first: quoted?.id ?? null };
}

/** Without the sentences that hold all that one of the contents says. */
function without(text: string, contents: readonly string[]): string {
  const wanted = contents.map((content) => [...meaning(content)]).filter((terms) => terms.length > 0);
  if (wanted.length === 0 || text === "") return text;
  const sentences = text.split(/(?<=[.!?])\s/);
  const left = sentences.filter((sentence) => {
    const words = meaning(sentence);
    return !wanted.some((terms) => terms.every((term) => words.has(term)));
  });
  return left.length === sentences.length ? text : left.join(" ").trim();
}

function withoutTraces(
  document: MemoryDocument,
  ids: ReadonlySet<string>,
  sections: readonly ErasedSection[],
  changeIds: ReadonlySet<string>,
): MemoryDocument {
  const reached = new Set<string>();
  const changes = document.changes?.map((change): Change => {
    if (change.on === "fact")
      return ids.has(change.target) ? { ...change, before: null, after: null, note: ERASED } : change;
    const section = sections.find(({ path }) => path === change.target);
    // What this very erasure wrote says what stood there before.
    if (section !== undefined && (section.first === change.id || !changeIds.has(change.id))) reached.add(change.target);
    return reached.has(change.target) ? { ...change, before: "", after: "", note: ERASED } : change;
  });
  return changes === undefined ? document : { ...document, changes };
}
