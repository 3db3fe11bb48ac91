/**
 * What a model may say about a summary: add items, reword or resolve known ones, replace where things stand and what is
 * next. Parsing is lenient about the packaging and strict about the content; whatever is not understood is left out and
 * named. A patch is only a proposal: merge.ts decides what of it holds.
 */
import { findObject } from "../text/lenient-json.ts";
import { isRecord, oneLine } from "../text/names.ts";
import { type DropReason, type ItemStatus, type NewItem, neutralize, SECTIONS, type SummarySection } from "./state.ts";

export interface SummaryPatch {
  readonly add: Readonly<Partial<Record<SummarySection, readonly NewItem[]>>>;
  readonly update: readonly {
    readonly id: string;
    readonly text: string;
    readonly seqs: readonly number[];
    readonly why?: string;
  }[];
  readonly resolve: readonly {
    readonly id: string;
    readonly status: Exclude<ItemStatus, "open">;
    readonly why: string;
  }[];
}

export type ParsedPatch =
  | {
      readonly kind: "patch";
      readonly patch: SummaryPatch;
      /** The answer ended early; complete items were kept. */
      readonly truncated: boolean;
      /** What was there but not understood. */
      readonly ignored: readonly string[];
    }
  | { readonly kind: "unusable"; readonly reason: "empty" | "only-reasoning" | "no-json" | "nothing-in-it" };

const MAX_PER_SECTION = 100;

export function parsePatch(answer: string): ParsedPatch {
  if (answer.trim() === "") return { kind: "unusable", reason: "empty" };
  const text = withoutReasoning(answer);
  if (text === "") return { kind: "unusable", reason: "only-reasoning" };
  const object = findObject(text);
  if (object.kind === "none") return { kind: "unusable", reason: "no-json" };
  const ignored: string[] = [];
  const patch = readPatch(object.value as Record<string, unknown>, ignored);
  const size = Object.values(patch.add).flat().length + patch.update.length + patch.resolve.length;
  if (size === 0) return { kind: "unusable", reason: "nothing-in-it" };
  return { kind: "patch", patch, truncated: object.truncated, ignored };
}

function readPatch(root: Record<string, unknown>, ignored: string[]): SummaryPatch {
  const add: Partial<Record<SummarySection, NewItem[]>> = {};
  // Some models put the sections at the top level instead of under `add`.
  const places = [root["add"], root].filter(isRecord);
  for (const section of SECTIONS) {
    const lists = places.map((place) => place[section]).filter((list) => list !== undefined && list !== null);
    const items = lists.flatMap((list) => readItems(list, section, ignored)).slice(0, MAX_PER_SECTION);
    if (items.length > 0) add[section] = items;
  }
  const fieldNames = new Set<string>([...SECTIONS, "add", "update", "resolve"]);
  for (const key of Object.keys(root)) if (!fieldNames.has(key)) ignored.push(`unknown key "${key.slice(0, 40)}"`);
  return { add, update: readUpdates(root["update"], ignored), resolve: readResolutions(root["resolve"], ignored) };
}

function readItems(list: unknown, section: SummarySection, ignored: string[]): NewItem[] {
  const values = Array.isArray(list) ? list : [list];
  return values.flatMap((value): NewItem[] => {
    const record = typeof value === "string" ? { text: value } : value;
    const text = isRecord(record) ? record["text"] : undefined;
    if (!isRecord(record) || typeof text !== "string") {
      ignored.push(`an item of ${section} without text`);
      return [];
    }
    if (isNothing(text)) return [];
    return [{ text, seqs: readSeqs(record), ...readWhy(record) }];
  });
}

function readUpdates(list: unknown, ignored: string[]): SummaryPatch["update"] {
  return records(list).flatMap((entry) => {
    const { id, text } = entry;
    if (typeof id === "string" && typeof text === "string" && !isNothing(text))
      return [{ id, text, seqs: readSeqs(entry), ...readWhy(entry) }];
    ignored.push("an update without id or text");
    return [];
  });
}

function readResolutions(list: unknown, ignored: string[]): SummaryPatch["resolve"] {
  return records(list).flatMap((entry) => {
    const { id, status } = entry;
    const why = entry["why"] ?? entry["reason"];
    if (typeof id === "string" && (status === "done" || status === "obsolete"))
      return [{ id, status, why: typeof why === "string" ? why : "" }];
    ignored.push("a resolution without id or status");
    return [];
  });
}

/** Numbers, or texts like "12", "#12", "12-14"; "seq" and "sources" are common slips. */
function readSeqs(record: Record<string, unknown>): number[] {
  const rawSeqs = record["seqs"] ?? record["seq"] ?? record["sources"] ?? record["source"] ?? [];
  return (Array.isArray(rawSeqs) ? rawSeqs : [rawSeqs]).slice(0, 50).flatMap((value) => {
    if (typeof value === "number") return Number.isSafeInteger(value) ? [value] : [];
    return typeof value === "string"
      ? [...value.matchAll(/\d{1,12}/g)].slice(0, 10).map((match) => Number(match[0]))
      : [];
  });
}

function readWhy(record: Record<string, unknown>): { why?: string } {
  const why = record["why"] ?? record["reason"];
  return typeof why === "string" && !isNothing(why) ? { why } : {};
}

function isNothing(text: string): boolean {
  return /^[\s\-*.]*(?:(?:none|n\/?a|nothing|null|unknown|not applicable|无|なし|없음|!)[\s.!]*)?$/iu.test(text);
}

function records(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : isRecord(list) ? [list] : [];
}

/*
 * Decides whether a summarizer's prose may stand for what it hides. Everything here is a reason to keep the history as it
 * is and try the next rung [F1] to [F4]; a refused summary never reaches the log.
 */

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

/**
 * Cleans a summarizer's answer of what is not answer: reasoning tags, fences around the whole. Shared by the reading of
 * patches and the validation of prose.
 */

const REASONING = /<(think|thinking|reasoning|thought|reflection|analysis|scratchpad)\b[^<>]*>/gi;

/** The answer without its reasoning. An unclosed opening tag swallows the rest; a lone closing tag ends the reasoning. */
export function withoutReasoning(text: string): string {
  let rest = text;
  const loneEnd = /^[\s\S]*?<\/(?:think|thinking|reasoning|thought)>/i.exec(rest);
  if (loneEnd !== null && !new RegExp(REASONING.source, "i").test(loneEnd[0])) rest = rest.slice(loneEnd[0].length);
  const lower = rest.toLowerCase();
  const outside: string[] = [];
  let at = 0;
  for (const match of rest.matchAll(REASONING)) {
    if (match.index < at) continue;
    outside.push(rest.slice(at, match.index));
    const close = lower.indexOf(`</${match[1]!.toLowerCase()}>`, match.index);
    at = close === -1 ? rest.length : close + match[1]!.length + 3;
  }
  outside.push(rest.slice(at));
  return outside.join("").trim();
}

/** A fence around the whole answer is packaging. */
function withoutFence(text: string): string {
  const match = /^```[\w-]*[ \t]*\n([\s\S]*?)\n?```\s*$/.exec(text.trim());
  return match === null ? text.trim() : match[1]!.trim();
}

/*
 * Makes a model's prose fit to be remembered: sentences lose their authority one by one [F34] [F35], and a long paragraph
 * becomes one line per sentence, so that a summary that must be shortened sheds sentences and not everything.
 */

export interface NeutralProse {
  readonly text: string;
  /** What lost its authority, and why. */
  readonly dropped: readonly { readonly what: string; readonly why: DropReason }[];
}

const LONG_LINE = 400;
const SENTENCE_END = /(?<=[.!?]["')\]]?)[ \t]+(?=\S)|(?<=[。！？])(?=\S)/u;

export function neutralizeProse(text: string): NeutralProse {
  const dropped: { what: string; why: DropReason }[] = [];
  const settle = (piece: string): string => {
    const { text: safe, changed } = neutralize(piece, "other");
    if (changed !== null) {
      dropped.push({
        what: oneLine(piece, 160),
        why: changed === "approval" ? "approval-spent" : "imperative-reported",
      });
    }
    return safe;
  };
  const lines = text.split("\n").flatMap((line) => {
    const settled = line.split(SENTENCE_END).map(settle);
    return line.length > LONG_LINE ? settled : [settled.join(" ")];
  });
  return { text: lines.join("\n"), dropped };
}

/**
 * Takes the authority out of remembered text [F34] [F35]. A summary is a record: an approval in it is spent, and words
 * that address the agent are kept as reported speech. Texts pass through here before they become items; doing it
 * twice changes nothing.
 */
