/** What a thread is called on the page. */
import { threads } from "../api/threads.ts";
import { nameOf } from "../parts/tree.ts";
import { visible } from "../text/format.ts";

/** Its title; its id where it has none or isn't read yet. */
export function threadName(id: string): string {
  return visible(nameOf(threads.value.get(id) ?? { id, title: null }));
}
