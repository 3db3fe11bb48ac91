/**
 * A thread without a store that messages are played into: for simulations, playbacks and property tests that run
 * hundreds of thousands of steps.
 */
import { emptyHead, NOTHING_LIVE } from "@palimpsest/core/internal/log";
import type { Dialect, Shape } from "@palimpsest/core/internal/message";
import { NO_THREAD, threadInMemory } from "../../src/thread/thread-view.ts";
import type { PlayedThread } from "./playback.ts";

export function playedThread<M extends object>(shape: Shape<M>): PlayedThread<M> {
  const messages = new Map<number, M>();
  const thread = threadInMemory<M>({
    header: NO_THREAD,
    shape,
    head: emptyHead(NO_THREAD.createdAt),
    live: NOTHING_LIVE,
    original: ({ seq }) => messages.get(seq)!,
  });
  return {
    ...thread,
    async say(message) {
      const seq = thread.head().version + 1;
      messages.set(seq, frozen(message));
      await thread.commit([
        { kind: "message", id: `m${seq}`, dialect: shape.dialect as Dialect, origin: "import", body: "" },
      ]);
    },
    said: async () => [...messages.values()],
  };
}

/** Editing a message in place fails at once: what was said stays as it was said. */
function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}
