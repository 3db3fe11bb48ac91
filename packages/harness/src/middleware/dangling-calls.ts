/**
 * Reports calls that never got a result: a run that was killed left them behind. The view gives each an error result, so
 * the thread stays usable; this tells a person that it did. The log is not touched.
 */
import { sent } from "@palimpsest/core/log";
import { aiSdkShape, repair, rulesOf } from "@palimpsest/core/message";
import type { Middleware } from "../agent/middleware.ts";

export function danglingCalls(): Middleware {
  return {
    name: "dangling-calls",
    beforeAgent({ conversation, emit }) {
      const messages = conversation.view().map((entry) => sent(entry, aiSdkShape));
      const { repairs } = repair(messages, aiSdkShape, rulesOf("ai-sdk"));
      const made = repairs.filter(({ kind }) => kind === "result-synthesized");
      if (made.length > 0) emit({ type: "calls-repair", repairs: made });
    },
  };
}
