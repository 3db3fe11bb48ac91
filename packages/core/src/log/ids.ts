/**
 * What may name a thread: its user and its id. A thread id becomes part of paths and URLs, so the rule is narrow on
 * purpose; a user's id comes from elsewhere and is taken as it is. Both are checked once, where they enter; nothing here
 * touches a file system.
 */

/** Whose thread it is when nobody says. */
export const DEFAULT_USER = "default";

/** A header is one. */
export interface ThreadName {
  readonly user: string;
  readonly id: string;
}

const THREAD_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export type ThreadIdCheck =
  | { readonly kind: "valid"; readonly id: string }
  | { readonly kind: "invalid"; readonly problem: string };

export function checkThreadId(id: string): ThreadIdCheck {
  if (id === "") return invalid("a thread id can't be empty");
  if (id.length > 128) return invalid(`a thread id has at most 128 characters, this one has ${id.length}`);
  const shown = JSON.stringify(id);
  if (id.includes("..")) return invalid(`the thread id ${shown} contains "..": use single dots`);
  if (!THREAD_ID.test(id))
    return invalid(
      `the thread id ${shown} must start with a letter or digit and use only letters, digits, ".", "_", "-"`,
    );
  return { kind: "valid", id };
}

type UserCheck =
  | { readonly kind: "valid"; readonly userId: string }
  | { readonly kind: "invalid"; readonly problem: string };

/** Any id but an empty one, as far as both databases can keep it: an index row of PostgreSQL ends at 2,700 bytes. */
export function checkUser(userId: string): UserCheck {
  // Programs in plain JavaScript may give anything.
  if (typeof userId !== "string" || userId === "")
    return invalid("a user can't be empty and is a text: leave it out for the default user");
  const bytes = utf8Length(userId);
  if (bytes > 2000) return invalid(`a user's id takes at most 2,000 bytes as UTF-8, this one takes ${bytes}`);
  if (userId.includes("\0") || !userId.isWellFormed())
    return invalid(`the user ${JSON.stringify(userId)} holds a character that can't be stored`);
  return { kind: "valid", userId };
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

function invalid(problem: string): { readonly kind: "invalid"; readonly problem: string } {
  return { kind: "invalid", problem };
}
