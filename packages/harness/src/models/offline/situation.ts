/** What the offline model sees of a prompt: the question, what tools answered since, and what it may call. Reads only. */
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { type AiSdkMessage, aiSdkShape, type ResultPart } from "@palimpsest/core/message";
import { messagesOf } from "../played-answer.ts";

export interface Situation {
  readonly system: string;
  /** The last thing the user said. */
  readonly question: string;
  /** What memory put into the prompt and added to the question, line by line. */
  readonly remembered: readonly string[];
  /** Results that came after it, with what was called. */
  readonly results: readonly ToolAnswer[];
  /** Everything before the question, without the system prompt. */
  readonly earlier: readonly AiSdkMessage[];
  readonly tools: ReadonlyMap<string, OfferedTool>;
}

export interface ToolAnswer {
  readonly name: string;
  readonly input: string;
  readonly text: string;
  readonly isError: boolean;
}

export interface OfferedTool {
  readonly name: string;
  /** Names of the arguments it takes. */
  readonly arguments: readonly string[];
}

export function situationOf(options: Pick<LanguageModelV4CallOptions, "prompt" | "tools" | "toolChoice">): Situation {
  const messages = messagesOf(options.prompt);
  const index = messages.findLastIndex((message) => message.role === "user");
  const system = messages
    .filter(({ role }) => role === "system")
    .map(textOf)
    .join("\n");
  const text = index === -1 ? "" : textOf(messages[index]!);
  return {
    system,
    question: text.replaceAll(EVIDENCE, "").replace(UPLOADED, ""),
    remembered: rememberedIn(text, system),
    results: answersIn(messages.slice(index + 1)),
    earlier: messages.slice(0, Math.max(0, index)).filter(({ role }) => role !== "system"),
    tools: options.toolChoice?.type === "none" ? new Map() : offered(options.tools ?? []),
  };
}

/** Evidence that memory adds to a question is not part of it. */
const EVIDENCE = /(?<!\s)\s*<evidence>\n(?:(?!<evidence>\n)[\s\S])*?<\/evidence>/g;

/** Nor is what the chat says of files that were copied in. */
const UPLOADED = /\n\n\(Uploaded: [^)\n]*\)$/;

const BLOCK = /<memory>\n((?:(?!<memory>\n)[\s\S])*?)<\/memory>/g;

function rememberedIn(question: string, system: string): string[] {
  const evidence = [...question.matchAll(EVIDENCE)].map(([whole]) => whole);
  const blocks = [...system.matchAll(BLOCK)].map(([, inside]) => inside!);
  const lines = [...evidence, ...blocks].flatMap((text) => text.split("\n"));
  return lines
    .filter((line) => /^(?:- |\d+ )/.test(line))
    .map((line) => line.replace(/^- |^\d+ [^:]{1,40}: |(?<!\s)\s*\(confidence: [\d.]+\)$/g, ""));
}

export function textOf(message: AiSdkMessage): string {
  const parts = aiSdkShape.parts(message);
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
}

function answersIn(messages: readonly AiSdkMessage[]): ToolAnswer[] {
  const inputs = new Map<string, { name: string; input: string }>();
  const results: ResultPart[] = [];
  for (const part of messages.flatMap((message) => aiSdkShape.parts(message))) {
    if (part.kind === "call") inputs.set(part.id, part);
    if (part.kind === "result") results.push(part);
  }
  return results.map(({ id, name, text, isError }) => {
    const call = inputs.get(id);
    return { name: name ?? call?.name ?? "", input: call?.input ?? "", text, isError };
  });
}

function offered(tools: NonNullable<LanguageModelV4CallOptions["tools"]>): Map<string, OfferedTool> {
  const toolsByName = new Map<string, OfferedTool>();
  for (const tool of tools) {
    if (tool.type !== "function") continue;
    const properties = tool.inputSchema.properties ?? {};
    toolsByName.set(tool.name, { name: tool.name, arguments: Object.keys(properties) });
  }
  return toolsByName;
}
