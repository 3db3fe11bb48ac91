/** Keys as the editor knows them, from what Node reads at a terminal; what is pasted comes as one. */

export type Key =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "paste"; readonly text: string }
  /** `left`, `ctrl-a`, `alt-b`, `enter`, `newline`: a modifier and a name. */
  | { readonly kind: "named"; readonly name: string };

/** What `emitKeypressEvents` of `node:readline` gives. */
export interface RawKey {
  readonly sequence?: string | undefined;
  readonly name?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
}

/** Given each key in turn; null while there is nothing to tell. */
export function keyReader(): (raw: RawKey) => Key | null {
  let pasted: string | null = null;
  return (raw) => {
    if (raw.name === "paste-start") pasted = "";
    else if (raw.name === "paste-end") {
      const text = pasted ?? "";
      pasted = null;
      return { kind: "paste", text };
    } else if (pasted === null) return keyOf(raw);
    else pasted += raw.sequence ?? "";
    return null;
  };
}

/**
 * A key that was pressed before the terminal was in raw mode: until then the system hands Enter on as a newline, and
 * nothing else makes one.
 */
export function earlyKey(key: Key): Key {
  return key.kind === "named" && key.name === "newline" ? { kind: "named", name: "enter" } : key;
}

function keyOf({ sequence = "", name, ctrl, meta }: RawKey): Key | null {
  if (sequence === "\u001f") return { kind: "named", name: "ctrl-_" };
  // Ctrl-J, and what terminals send for Shift-Enter when they tell it apart.
  if (name === "enter" || (name === "return" && meta)) return { kind: "named", name: "newline" };
  if (name === "return") return { kind: "named", name: "enter" };
  if (name === "escape") return { kind: "named", name };
  const plain = !ctrl && !meta && !/\p{Cc}/u.test(sequence);
  if (plain && sequence !== "") return { kind: "text", text: sequence };
  if (name === undefined || name === "undefined") return null;
  return { kind: "named", name: `${ctrl ? "ctrl-" : ""}${meta ? "alt-" : ""}${name}` };
}
