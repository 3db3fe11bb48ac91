/**
 * A model that answers at once and costs next to nothing: it reads no message. The size it reports grows with the
 * questions by about what was said, as a provider's would.
 */
import type { ScriptedModel } from "@palimpsest/testing";
import { answerParts, type Playing, wholeAnswer } from "../../packages/harness/src/models/offline/played-answer.ts";
import { ANSWER } from "./case.ts";

export interface PlainModel extends Omit<ScriptedModel, "calls" | "remaining"> {
  /** Messages of the last prompt, the system prompt not counted. */
  readonly shown: number;
}

/** `tokens`: what the first prompt is reported with. */
export function plainModel(tokens: number): PlainModel {
  let calls = 0;
  let shown = 0;
  const next = ({ prompt }: Parameters<ScriptedModel["doStream"]>[0]): Playing => {
    calls += 1;
    shown = prompt.filter(({ role }) => role !== "system").length;
    const total = tokens + calls * TURN_TOKENS;
    const inputTokens = { total, noCache: total, cacheRead: 0, cacheWrite: 0 };
    return {
      modelId: "plain",
      usage: { inputTokens, outputTokens: { total: 18, text: 18, reasoning: 0 } },
      callId: String,
      responseId: `answer-${calls}`,
    };
  };
  return {
    specificationVersion: "v4",
    provider: "plain",
    modelId: "plain",
    supportedUrls: {},
    get shown() {
      return shown;
    },
    doGenerate: async (given) => wholeAnswer({ text: ANSWER }, next(given)),
    async doStream(given) {
      const parts = answerParts({ text: ANSWER }, next(given));
      return { stream: ReadableStream.from(parts) as ReadableStream<(typeof parts)[number]> };
    },
  };
}

const TURN_TOKENS = 35;
