/**
 * The model for when there is none: deterministic, needs no key and no network, and never pretends to be more. It answers
 * by calling `recall` and quoting, does plain file requests, keeps records by extraction, else says what it can do. Every
 * answer in words begins or ends with its label; answers in JSON are for programs and carry none.
 */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { oneLine } from "@palimpsest/core/internal/text";
import { type CountText, charsPerToken } from "@palimpsest/core/internal/tokens";
import { askFileTool, askRecall, keepRecord, quoteBeginning, quoteEarlier, quoteHits, tellResult } from "./acts.ts";
import { answerParts, type PlayedAnswer, type Playing, requestTokens, usageOf, wholeAnswer } from "./played-answer.ts";
import { factsIn, isSummarized, type Situation, situationOf, spokenBefore, type ToolAnswer } from "./situation.ts";

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
  return `You said: "${excerpt}" I keep everything said here; ask me about any of it. For real answers name a model in config.yaml, or give the agent one as \`model\`.`;
}

/* The two things people ask a model that can't think: what it can do, and what was said so far. */

/** Null when the question is about something else. */
export function aboutItself({ question, earlier }: Situation): string | null {
  const words = question.trim();
  if (HELP.test(words)) return ABILITIES;
  if (!SUMMARY.test(words)) return null;
  const userTurns = spokenBefore(earlier).filter(({ role }) => role === "user");
  const hidden = isSummarized(earlier);
  if (userTurns.length === 0)
    return hidden ? "All that you said is behind a summary; ask me about any of it." : "Nothing was said yet.";
  const left = userTurns.length - SHOWN;
  const lines = userTurns.slice(-SHOWN).map(({ text }) => `- ${oneLine(text, 120)}`);
  const before = left <= 0 ? [] : [`- (${left} before these; ask about any of them)`];
  if (hidden) before.unshift("- (what came before is behind a summary; ask about any of it)");
  return [`I can't judge what matters, but this is what you said (${userTurns.length}):`, ...before, ...lines].join(
    "\n",
  );
}

const SHOWN = 10;

const HELP = /^(?:help(?: me)?|what can you do|who are you|what are you|how does this work)[\s.!?]*$/i;

/** "Summarize our conversation", "what have we talked about?", and the word for it in some languages. */
const SUMMARY =
  /^(?:(?:please|can you|could you)\s+)*(?:summari[sz]e|recap|sum up|tl;?dr|résume|resume|resumir|zusammenfass|fasse?\b.{0,60}\bzusammen|riassumi|総括|要約|总结|總結|요약)|^(?:what (?:have|did) we (?:talk|discuss|say)\w*(?: about)?(?: so far)?)[\s.!?]*$/iu;

const ABILITIES = [
  "I am the offline model: no key, no network, no thinking. I can",
  '- find what was said: tell me something, then ask about it ("Where does Rex live?")',
  '- keep files: `write "milk, eggs" to list.md`, `read list.md`, `list files`',
  "- list what you said: `summarize our conversation`",
  "Name a model in config.yaml for real answers; in a chat, /help lists the commands.",
].join("\n");
