/**
 * The model for when there is none: deterministic, needs no key and no network, and never pretends to be more. It answers
 * by calling `recall` and quoting, does plain file requests, keeps records by extraction, else says what it can do. Every
 * answer in words begins or ends with its label; answers in JSON are for programs and carry none.
 */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { type CountText, charsPerToken } from "@palimpsest/core/tokens";
import { answerParts, type PlayedAnswer, type Playing, requestTokens, usageOf, wholeAnswer } from "../played-answer.ts";
import { aboutItself } from "./about-itself.ts";
import { factsIn } from "./facts.ts";
import { askFileTool, tellResult } from "./file-requests.ts";
import { askRecall, quoteBeginning, quoteEarlier, quoteHits } from "./recalling.ts";
import { keepRecord } from "./record-keeping.ts";
import { type Situation, situationOf, type ToolAnswer } from "./situation.ts";

export const OFFLINE_LABEL = "[offline]";

export function offlineModel(): LanguageModelV4 {
  const count = charsPerToken(4);
  const play = (options: LanguageModelV4CallOptions) => {
    options.abortSignal?.throwIfAborted();
    const answer = answerTo(situationOf(options), count);
    // The same prompt gets the same ids, and a conversation that has grown gets others.
    const turn = options.prompt.length;
    const playing: Playing = {
      modelId: "offline",
      usage: usageOf(answer, requestTokens(options, count), count),
      callId: (index) => `offline_${turn}_${index}`,
      responseId: `offline-${turn}`,
    };
    return { answer, playing };
  };
  return {
    specificationVersion: "v4",
    provider: "offline",
    modelId: "offline",
    supportedUrls: {},
    async doGenerate(options) {
      const { answer, playing } = play(options);
      return wholeAnswer(answer, playing);
    },
    async doStream(options) {
      const { answer, playing } = play(options);
      return { stream: ReadableStream.from<LanguageModelV4StreamPart>(answerParts(answer, playing)) };
    },
  };
}

function answerTo(situation: Situation, count: CountText): PlayedAnswer {
  const record = keepRecord(situation, count);
  if (record !== null) return { text: record.startsWith("{") ? record : `${record}\n${OFFLINE_LABEL}` };
  const last = situation.results.at(-1);
  if (last !== undefined) {
    const told = tell(last, situation);
    return { text: labelled(told ?? echo(situation.question)) };
  }
  const talk = aboutItself(situation);
  if (talk !== null) return { text: labelled(talk) };
  const called = askFileTool(situation) ?? askRecall(situation);
  return called ?? { text: labelled(quoteEarlier(situation) ?? echo(situation.question)) };
}

function tell(answer: ToolAnswer, situation: Situation): string | null {
  if (answer.name === "recall") return quoteHits(answer, situation);
  return answer.name === "recall_read" ? quoteBeginning(answer) : tellResult(answer);
}

const labelled = (text: string): string => `${OFFLINE_LABEL} ${text}`;

function echo(question: string): string {
  const words = question.trim().replaceAll(/\s+/g, " ");
  if (words === "") return "Nothing was asked.";
  const facts = factsIn(question);
  if (facts.length > 0) return `Noted: ${facts.map(({ content }) => content).join("; ")}.`;
  const excerpt = words.length <= 160 ? words : `${words.slice(0, 157)}...`;
  return `You said: "${excerpt}" I keep everything said here; ask me about any of it. For real answers name a model in config.yaml.`;
}
