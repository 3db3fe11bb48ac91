/** Progress of long work: at a terminal soon and often, elsewhere only when it takes long. */
import type { Output } from "./output.ts";

export function throttled<A extends readonly unknown[]>(
  { progress }: Pick<Output, "progress">,
  text: (...told: A) => string,
): (...told: A) => void {
  let last = Date.now();
  return (...told) => {
    const now = Date.now();
    if (now - last < (process.stderr.isTTY ? 200 : 5000)) return;
    last = now;
    progress(text(...told));
  };
}
