/**
 * Names a thread after its first exchange, from the user's own first words and without a model: the name must cost
 * nothing and be there at once.
 */
import { aiSdkShape } from "@palimpsest/core/message";
import type { Middleware } from "../agent/middleware.ts";

export interface TitleOptions {
  readonly maxCharacters?: number;
}

export function title({ maxCharacters = 60 }: TitleOptions = {}): Middleware {
  return {
    name: "title",
    async afterAgent(run, end) {
      if (end.kind !== "answered" && end.kind !== "asked") return;
      const { conversation } = run;
      if (conversation.head().state["title"] !== undefined) return;
      const first = conversation.view().find(({ source, message }) => source === "message" && message.role === "user");
      if (first === undefined) return;
      const words = aiSdkShape.parts(first.message);
      const text = titleOf(words.map((part) => (part.kind === "text" ? part.text : "")).join(" "), maxCharacters);
      if (text === "") return;
      await run.commit([{ kind: "state", patch: { title: text } }]);
      run.emit({ type: "title-set", title: text });
    },
  };
}

/** The first sentence or line, on one line, cut at a word. */
function titleOf(text: string, maxCharacters: number): string {
  const flat = text.replace(/\s+/g, " ").trim();
  const sentence = /^.{12,}?[.!?。！？](?=\s|$)/u.exec(flat)?.[0].replace(/[.。]$/u, "") ?? flat;
  const points = [...sentence];
  if (points.length <= maxCharacters) return sentence;
  const cut = points.slice(0, maxCharacters - 1).join("");
  const space = cut.lastIndexOf(" ");
  return `${space > maxCharacters / 2 ? cut.slice(0, space) : cut}…`;
}
