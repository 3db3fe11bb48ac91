/**
 * Keeps an open thread in step with a log that others may write to: before each act, and under the lease right before a
 * compaction is written, which stands only on the fold that it was planned on.
 */
import type { Head } from "@palimpsest/core/log";
import type { Conversation } from "../threads/conversation.ts";
import { gone, type Hold } from "./hold.ts";
import type { KnownIds } from "./known-ids.ts";
import type { Prompting } from "./prompting.ts";

/** Throws a `ThreadError` when the thread is gone. */
export type CatchUp = () => Promise<"current" | "grown" | "reread">;

export interface InStep<M> {
  readonly hold: Hold;
  readonly conversation: Conversation<M>;
  readonly ids: KnownIds;
  readonly prompting: Prompting<M>;
}

export function catchingUp<M>({ hold, conversation, ids, prompting }: InStep<M>): CatchUp {
  return async () => {
    if (hold.held === "always") return "current";
    const moved = await conversation.catchUp();
    if (moved === "missing") return gone(conversation.header.id);
    if (moved === "reread") ids.forget();
    if (moved !== "current") await prompting.recount();
    return moved;
  };
}

/** The same conversation for a compactor: it commits on the fold it has seen, to a log that may have grown since. */
export function onSameFold<M>(conversation: Conversation<M>, hold: Hold, catchUp: CatchUp): Conversation<M> {
  return {
    ...conversation,
    commit: (inputs, also) =>
      hold.during(async () => {
        const planned = conversation.head();
        const moved = await catchUp();
        const { version } = conversation.head();
        // Where words were erased, a summary may still hold them.
        if (moved === "reread" || foldOf(planned) !== foldOf(conversation.head())) return { kind: "conflict", version };
        return conversation.commit(inputs, also);
      }),
  };
}

function foldOf({ compaction, hiddenThrough, prunes, undone }: Head): string {
  return JSON.stringify([compaction, hiddenThrough, prunes, undone]);
}
