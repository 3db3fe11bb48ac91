/**
 * The small port that the memory tool's commands stand on: files and folders below one root, named by their segments.
 * Whoever implements it keeps every name inside of the root; the commands decide what is asked of it and what is said.
 */

/** Below `/memories`; none: the root itself. */
export type Segments = readonly string[];

export interface MemoryFiles {
  /** Null: nothing is there, or nothing that is a plain file or folder. */
  look(path: Segments): Promise<MemoryEntry | null>;
  /** The plain files and folders of a folder, by name. */
  list(path: Segments): Promise<readonly NamedEntry[]>;
  read(path: Segments): Promise<string>;
  /** Whole or not at all; makes the folders that are missing. */
  write(path: Segments, text: string): Promise<void>;
  /** A folder with all that is in it. */
  remove(path: Segments): Promise<void>;
  /** Nothing stands at `to`; makes the folders that are missing. */
  rename(path: Segments, to: Segments): Promise<void>;
  /** One change at a time, so that none is lost between its reading and its writing. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
}

export interface MemoryEntry {
  readonly kind: "file" | "folder";
  readonly bytes: number;
}

export interface NamedEntry extends MemoryEntry {
  readonly name: string;
}
