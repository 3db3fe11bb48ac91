/**
 * What may name a thread. A thread id becomes part of paths and URLs, so the rule is narrow on purpose and is checked
 * once, where an id enters; nothing here touches a file system.
 */

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

function invalid(problem: string): ThreadIdCheck {
  return { kind: "invalid", problem };
}
