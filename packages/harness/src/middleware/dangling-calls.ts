/**
 * Reports calls that never got a result: a run that was killed left them behind. The view gives each an error result, so
 * the thread stays usable; this tells a person that it did. The log is not touched.
 */
import type { Repair } from "@palimpsest/core/message";
import { pendingIn } from "../agent/approval.ts";
import type { Middleware } from "../agent/middleware.ts";

declare module "../agent/features.ts" {
  interface FeatureEvents {
    readonly danglingCalls: { readonly type: "calls-repair"; readonly repairs: readonly Repair[] };
  }
}

export function danglingCalls(): Middleware {
  return {
    name: "dangling-calls",
    beforeAgent({ prompt, emit, conversation }) {
      // Calls that wait for a person have no result yet, and nothing is wrong with that.
      if (pendingIn(conversation.head().state, conversation.header.id).length > 0) return;
      const synthesized = prompt().repairs.filter(({ kind }) => kind === "result-synthesized");
      if (synthesized.length > 0) emit({ type: "calls-repair", repairs: synthesized });
    },
  };
}
