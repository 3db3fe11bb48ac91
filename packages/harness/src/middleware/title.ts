/** Names a thread after its first exchange, from the user's own first words. */
import { aiSdkShape } from "@palimpsest/core/message";
import type { Middleware } from "../agent/middleware.ts";
import { type TitleLimits, titleOf } from "../thread/title.ts";

declare module "../agent/features.ts" {
  interface FeatureEvents {
    readonly title: { readonly type: "title-set"; readonly title: string };
  }
}

export type TitleOptions = TitleLimits;

export function title(limits: TitleOptions = {}): Middleware {
  return {
    name: "title",
    async afterAgent(run, end) {
      if (end.kind !== "answered" && end.kind !== "asked") return;
      const { conversation } = run;
      if (conversation.head().state["title"] !== undefined) return;
      const first = conversation.view().find(({ source, message }) => source === "message" && message.role === "user");
      if (first === undefined) return;
      const words = aiSdkShape.parts(first.message);
      const text = titleOf(words.map((part) => (part.kind === "text" ? part.text : "")).join(" "), limits);
      if (text === "") return;
      await run.commit([{ kind: "state", patch: { title: text } }]);
      run.emit({ type: "title-set", title: text });
    },
  };
}
