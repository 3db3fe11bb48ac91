/**
 * Decides whether a summarizer's prose may stand for what it hides. Everything here is a reason to keep the history as it
 * is and try the next rung [F1] to [F4]; a refused summary never reaches the log.
 */
import { withoutFence, withoutReasoning } from "./answer.ts";

export type SummaryVerdict =
  | { readonly kind: "valid"; readonly text: string; readonly tokens: number }
  | { readonly kind: "invalid"; readonly reason: InvalidReason };

export type InvalidReason =
  | "empty"
  | "only-reasoning"
  | "refusal"
  | "error-text"
  | "html"
  | "nothing-in-it"
  | "no-shrink"
  | "echo";

export interface ValidateOptions {
  /** Tokens the summary would replace. */
  readonly hiddenTokens: number;
  readonly count: (text: string) => number;
  /** What the summarizer was shown, to recognize an echo. */
  readonly transcript?: string;
}

export function validateSummary(answer: string, options: ValidateOptions): SummaryVerdict {
  const invalid = (reason: InvalidReason): SummaryVerdict => ({ kind: "invalid", reason });
  if (answer.trim() === "") return invalid("empty");
  const text = withoutFence(withoutReasoning(answer));
  if (text === "") return invalid("only-reasoning");
  if (isHtml(text)) return invalid("html");
  if (isErrorText(text)) return invalid("error-text");
  if (isRefusal(text)) return invalid("refusal");
  if (saysNothing(text)) return invalid("nothing-in-it");
  const tokens = options.count(text);
  if (tokens >= options.hiddenTokens) return invalid("no-shrink");
  if (options.transcript !== undefined && isEcho(text, options.transcript)) return invalid("echo");
  return { kind: "valid", text, tokens };
}

function isHtml(text: string): boolean {
  return /^\s*(?:<!doctype html|<html\b|<head\b|<\?xml\b)/i.test(text);
}

/** Providers' and libraries' errors are short and begin as errors; a summary may well speak of errors later on. */
function isErrorText(text: string): boolean {
  if (text.length > 2000) return false;
  return (
    /^\s*(?:error(?:\s+generating\s+summary)?\s*[:\-(]|api error|internal server error|service unavailable|bad gateway|gateway time-?out|rate limit(?:ed)? (?:exceeded|reached|hit|error)|too many requests|\d{3} (?:bad|unauthorized|forbidden|not found|too many|internal|service)|request (?:failed|timed out)|upstream (?:connect|request|error|server)|connection (?:error|refused|reset)|timeout(?:error)?(?:\s*[:.]| (?:after|exceeded|while)|$)|(?:[A-Za-z]+Error|Exception):)/i.test(
      text,
    ) || /^\s*\{\s*"(?:error|type"\s*:\s*"error|message"\s*:\s*".*error|detail)"/i.test(text)
  );
}

function isRefusal(text: string): boolean {
  if (text.length > 1500) return false;
  return (
    /^\s*(?:i(?:'|’)?m (?:sorry|afraid|unable|not able)|i am (?:sorry|unable|not able)|sorry[,.]|i (?:cannot|can(?:'|’)?t|won(?:'|’)?t|will not|must decline|am not able)|i apologi[sz]e|unfortunately,? i (?:cannot|can(?:'|’)?t|am)|as an ai\b|抱歉|对不起|很抱歉|申し訳|죄송)/iu.test(
      text,
    ) ||
    /^\s*(?:there is )?no (?:conversation|messages?|content|transcript)(?: \w+)? (?:was |were |to )?(?:provided|given|found|summari[sz]e)/i.test(
      text,
    )
  );
}

/** Headings and labels without content: "Goals: None", "## Files\n- N/A". */
function saysNothing(text: string): boolean {
  const nothing =
    /^(?:none|n\/?a|nothing(?: \w+){0,3}|not (?:applicable|available|specified|mentioned|provided)|unknown|empty|tbd|no (?:\w+ ){0,3}(?:yet|provided|mentioned|found)|无|なし|없음)?$/iu;
  return text.split("\n").every((line) => {
    if (/^\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$|[-=*_]{3,}\s*$)/.test(line)) return true;
    const content = line
      .replace(/^\s*(?:[-*+•]|\d+[.)])?\s*/, "")
      .replace(/^(?:\*\*)?[^:：]{1,60}(?:\*\*)?[:：](?:\*\*)?\s*/, "");
    return nothing.test(content.replaceAll(/(?<![\s.!*_()[\]"'`])[\s.!*_()[\]"'`]+$|^[\s*_()[\]"'`]+/g, ""));
  });
}

/** Most of its lines stand in the transcript word for word, headers of the transcript included. */
function isEcho(text: string, transcript: string): boolean {
  if (/^\s*(?:<transcript>|\[#\d+ )/.test(text)) return true;
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.length >= 20);
  if (lines.length < 3) return text.length > 200 && transcript.includes(text.trim());
  const transcriptLines = new Set(transcript.split("\n").map((line) => line.trim()));
  return lines.filter((line) => transcriptLines.has(line)).length > lines.length * 0.8;
}
