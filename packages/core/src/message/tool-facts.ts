/**
 * What a tool is, as its definition says it. A log holds only the names of tools; a shape that was told their facts puts
 * them on the parts it shows, so that readers of a call or a result need no list of names.
 */
import type { Part, Shape } from "./shape.ts";

export interface ToolFacts {
  /**
   * What a call does to the files that its arguments name. `list`: looks for files, or in them. `run`: an argument is a
   * shell command. `none`: it has nothing to do with files. Absent: guessed from the name.
   */
  readonly act?: ToolAct;
  /** The argument that holds what is written (`write`), stands in the file from now on (`edit`) or is run (`run`). */
  readonly text?: string;
  /** Its results repeat what was said in a thread: they are not indexed again, and erased with what they repeat. */
  readonly answers?: "history";
  /** It bounds its own results: they are never moved to a file. */
  readonly output?: "bounded";
  /** It keeps a time limit of its own, and is not held to the agent's. */
  readonly timeLimit?: "own";
  /** No sub-agent may have it. */
  readonly children?: "none";
}

export type ToolAct = "read" | "write" | "edit" | "delete" | "move" | "list" | "run" | "none";

/** By the name in a call; undefined for a tool that says nothing of itself. */
export type FindToolFacts = (name: string) => ToolFacts | undefined;

export function withToolFacts<M>(shape: Shape<M>, find: FindToolFacts): Shape<M> {
  const tell = (part: Part): Part => {
    if ((part.kind !== "call" && part.kind !== "result") || part.name === null) return part;
    const facts = find(part.name);
    return facts === undefined ? part : { ...part, facts };
  };
  const cache = new WeakMap<readonly Part[], readonly Part[]>();
  return {
    ...shape,
    parts(message) {
      const parts = shape.parts(message);
      const seen = cache.get(parts);
      if (seen !== undefined) return seen;
      const told = parts.map(tell);
      // What a tool says may become known later: only what was found is kept.
      if (told.every((part, index) => part === parts[index])) return parts;
      cache.set(parts, told);
      return told;
    },
  };
}
