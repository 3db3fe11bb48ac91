/** The options of a command: how each is written, and what becomes of it. */

export type CommandOption = Flag | Text | Whole | List;

interface OptionText {
  readonly help: string;
  readonly short?: string;
}

export interface Flag extends OptionText {
  readonly kind: "flag";
}

interface Valued extends OptionText {
  /** The name of its value in the help: `N`, `DIR`. */
  readonly value: string;
}

export interface Text extends Valued {
  readonly kind: "text";
}

export interface Whole extends Valued {
  readonly kind: "whole";
  readonly min: number;
}

/** It may stand several times. */
export interface List extends Valued {
  readonly kind: "list";
}

/** By what a command's `run` takes: a boolean is a flag, a number a whole one, a list stands several times. */
export type OptionTable<O> = { readonly [K in keyof O]-?: OptionFor<NonNullable<O[K]>> };

type OptionFor<V> = [V] extends [boolean] ? Flag : [V] extends [number] ? Whole : [V] extends [string] ? Text : List;

export function flag(help: string): Flag {
  return { kind: "flag", help };
}

export function text(value: string, help: string): Text {
  return { kind: "text", value, help };
}

export function whole(
  value: string,
  { min, short }: { readonly min: number; readonly short?: string },
  help: string,
): Whole {
  return { kind: "whole", value, min, help, ...(short !== undefined && { short }) };
}

export function list(value: string, help: string): List {
  return { kind: "list", value, help };
}
