/** Says when a folder may have changed: by the system's events where there are any, and by the clock in any case. */
import { watch } from "node:fs";

/** One value whenever there may be something new; ends with the signal. */
export async function* folderChanges(
  root: string,
  { pollMs, signal }: { readonly pollMs: number; readonly signal: AbortSignal },
): AsyncGenerator<void> {
  let wake: () => void = () => {};
  let isDirty = false;
  const changed = (): void => {
    isDirty = true;
    wake();
  };
  const watcher = watchOrNothing(root, changed);
  const timer = setInterval(changed, pollMs);
  signal.addEventListener("abort", changed, { once: true });
  try {
    while (!signal.aborted) {
      if (!isDirty) await new Promise<void>((resolve) => (wake = resolve));
      isDirty = false;
      if (!signal.aborted) yield;
    }
  } finally {
    clearInterval(timer);
    watcher?.close();
    signal.removeEventListener("abort", changed);
  }
}

/** A system without such events, or with too many folders for them, is left to the clock. */
function watchOrNothing(root: string, onChange: () => void): { close(): void } | null {
  try {
    const watcher = watch(root, { recursive: true, persistent: false }, onChange);
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}
