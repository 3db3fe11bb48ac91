/**
 * The one base of everything Palimpsest throws: a code to branch on, a message that says what to do next, and the cause.
 * `isInstance` also knows errors of another copy of the package, where `instanceof` would not.
 */
const KINDS = Symbol.for("palimpsest.error.kinds");

export class PalimpsestError<Code extends string = string> extends Error {
  /** The class's name, also where a bundler has shortened it. */
  static readonly kind: string = "PalimpsestError";
  readonly code: Code;

  constructor(code: Code, message: string, { cause }: { readonly cause?: unknown } = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.name = new.target.kind;
    this.code = code;
    Object.defineProperty(this, KINDS, { value: kindsOf(new.target), enumerable: false });
  }

  static isInstance<T extends PalimpsestError>(
    this: { readonly kind: string; readonly prototype: T },
    error: unknown,
  ): error is T {
    if (!(error instanceof Error)) return false;
    const kinds = (error as { [KINDS]?: unknown })[KINDS];
    // biome-ignore lint/complexity/noThisInStatic: a subclass asks for its own kind
    return Array.isArray(kinds) && kinds.includes(this.kind);
  }
}

type Kind = { readonly kind?: string };

/** The class's own kind and those it extends. */
function kindsOf(given: Kind): readonly string[] {
  const kinds: string[] = [];
  for (let at: Kind | null = given; at?.kind !== undefined; at = Object.getPrototypeOf(at) as Kind | null) {
    if (at.kind !== kinds.at(-1)) kinds.push(at.kind);
  }
  return kinds;
}
