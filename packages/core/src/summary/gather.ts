/**
 * One pass over the covered messages for the extractive summarizer: who said what, what each tool result answers, and
 * how often each name occurs. Names that come back are worth more than names seen once. Below: the words of a part.
 */
import type { Part, Shape } from "../message/shape.ts";
import { termsIn } from "../text/analyze.ts";
import { clip, lastStep, type Name, namesIn } from "../text/names.ts";
import { redactSecrets } from "../text/secrets.ts";
import type { NumberedMessage } from "./ledger.ts";
import { mediaName } from "./render-lines.ts";
import { MAX_ITEM_SEQS } from "./state.ts";
import { commandEffects, readCall } from "./tool-calls.ts";

export interface Gathered {
  readonly user: readonly SaidText[];
  readonly assistant: readonly SaidText[];
  /** Distinct names that each tool was called with. */
  readonly asked: readonly NameHome[];
  /** Images and files in words, with who gave them. */
  readonly media: readonly SaidText[];
  /** In how many messages each name occurs. */
  readonly frequency: ReadonlyMap<string, number>;
}

export interface NameHome {
  readonly seq: number;
  readonly label: string;
  readonly names: readonly string[];
}

export interface SaidText {
  readonly seq: number;
  readonly text: string;
}

/** Names per message that take part; a 5 MB listing has more than a summary could ever name. */
const MAX_NAMES = 4000;
/** Of one part, in characters: names are looked for in its beginning. */
const MAX_READ = 1_000_000;

/** A step is one part of a message. */
export function* gather<M>(entries: readonly NumberedMessage<M>[], shape: Shape<M>): Generator<void, Gathered> {
  const user: SaidText[] = [];
  const assistant: SaidText[] = [];
  const media: SaidText[] = [];
  const frequency = new Map<string, number>();
  const labels = new Map<string, string>();
  const asked = new Map<string, { seq: number; names: Set<string> }>();
  for (const { seq, message } of entries) {
    const role = shape.role(message);
    if (role === "system") continue;
    const here = new Set<string>();
    let label: string = role;
    for (const part of shape.parts(message)) {
      yield;
      if (part.kind === "text") {
        if (part.text.trim() !== "") (role === "assistant" ? assistant : user).push({ seq, text: part.text });
        addNames(part.text, here);
      } else if (part.kind === "call") {
        labels.set(part.id, callLabel(part));
        addValues(part.input, here);
        addAsked(part, seq, asked);
      } else if (part.kind === "result") {
        label = labels.get(part.id) ?? part.name ?? "tool";
        addValues(part.text, here);
        for (const image of part.images) media.push({ seq, text: `${label} gave: ${mediaName(image)}` });
      } else if (part.kind === "file" || part.kind === "image") {
        media.push({ seq, text: `${role} gave: ${mediaName(part)}` });
        if (part.kind === "file" && part.name !== null) here.add(part.name);
      }
    }
    for (const name of here) frequency.set(name, (frequency.get(name) ?? 0) + 1);
  }
  const calls = [...asked].map(([tool, { seq, names: given }]) => ({ seq, label: `${tool} of`, names: [...given] }));
  return { user, assistant, asked: calls, media, frequency };
}

function addNames(text: string, into: Set<string>, isWanted: (name: Name) => boolean = () => true): void {
  if (into.size >= MAX_NAMES) return;
  for (const name of namesIn(redactSecrets(text.slice(0, MAX_READ)).text)) {
    if (!isWanted(name)) continue;
    into.add(name.text);
    if (into.size >= MAX_NAMES) return;
  }
}

/** A number of two digits tells nothing by itself. */
export function isTelling({ kind, text }: Name): boolean {
  return kind !== "number" || text.replace(/\D/g, "").length >= 3;
}

/** Of JSON the values: its keys come back in every result, and name nothing. */
function addValues(text: string, into: Set<string>, isWanted = isTelling): void {
  if (into.size >= MAX_NAMES) return;
  const keys = new Set([...text.slice(0, MAX_READ).matchAll(/"([\w.$-]{1,100})" ?:/g)].map(([, key]) => key!));
  addNames(text, into, (name) => !keys.has(name.text) && isWanted(name));
}

/** What a tool was called with, all its calls together: one of them alone is often a single name. */
function addAsked(call: GatheredCall, seq: number, asked: Map<string, { seq: number; names: Set<string> }>): void {
  if (readCall(call).kind !== "other") return;
  const tool = asked.get(call.name) ?? { seq, names: new Set() };
  asked.set(call.name, tool);
  addValues(call.input, tool.names, ({ kind }) => kind !== "number");
}

type GatheredCall = Parameters<typeof readCall>[0];

function callLabel(call: GatheredCall): string {
  const meaning = readCall(call);
  if (meaning.kind === "files") return `${call.name} ${lastStep(meaning.acts[0]!.path)}`;
  if (meaning.kind === "other") return call.name;
  const file = commandEffects(meaning.command).files[0];
  const program = meaning.command.replace(/^cd [^&;]+(?:&&|;)\s*/, "").split(/\s+/)[0]!;
  return clip(file === undefined ? program : `${program} ${lastStep(file.path)}`, 60);
}

/*
 * Finds the messages a summary item came from by its rarest terms, so that what a model cites can be checked and what it
 * doesn't cite can be found. Built once per covered range.
 */

export type Locate = (text: string, claimed: readonly number[]) => number[];

/** Claimed messages that hold a rare term of the text; else the messages that hold most of its rarest ones; else none. */
export function createLocator<M>(entries: readonly NumberedMessage<M>[], shape: Shape<M>): Locate {
  const places = new Map<string, number[]>();
  for (const { seq, message } of entries) {
    const here = new Set<string>();
    for (const part of shape.parts(message)) {
      const text = part.kind === "call" ? part.input : "text" in part ? part.text : "";
      for (const term of termsIn(text)) here.add(term);
    }
    for (const term of here) {
      const seqs = places.get(term);
      if (seqs === undefined) places.set(term, [seq]);
      else seqs.push(seq);
    }
  }
  const rareEnough = Math.max(5, entries.length / 5);
  return (text, claimed) => {
    const terms = [...termsIn(text)]
      .map((term) => places.get(term) ?? [])
      .filter((seqs) => seqs.length > 0 && seqs.length <= rareEnough)
      .sort((a, b) => a.length - b.length)
      .slice(0, 12);
    const score = new Map<number, number>();
    for (const seqs of terms) for (const seq of seqs) score.set(seq, (score.get(seq) ?? 0) + 1 / seqs.length);
    const holding = claimed.filter((seq) => score.has(seq));
    if (holding.length > 0) return holding.slice(0, MAX_ITEM_SEQS);
    const best = [...score].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 3);
    return best.map(([seq]) => seq).sort((a, b) => a - b);
  };
}

/**
 * What a sentence is about, told by the words it uses. English first, with the commonest words of other languages; a
 * sentence without a cue is a fact, so an unknown language loses the sorting and not the content.
 */

const CONSTRAINT =
  /\b(?:must|never|always|don'?t|do not|prefer|only|make sure|ensure|should(?:n'?t| not)?|avoid|requires?|required|without|at (?:least|most)|no more than|keep|stick to|important|muss|darf|nie|niemals|immer|soll|debe|nunca|siempre|doit|jamais|toujours|ne pas|deve|nunca|sempre)\b|必须|不要|务必|应该|禁止|一定|しないで|必ず|てください|하지 ?마|반드시/iu;

const DECISION =
  /\b(?:decid(?:e|ed|es|ing)|decision|because|instead|rather than|cho(?:se|ose|sen)|going with|we'?ll use|will use|switch(?:ed|ing)? to|so that|therefore|the fix|fixed|(?:problem|issue|bug|cause|reason|mistake) (?:was|is)|turns out|root cause|renamed?|replac(?:e|ed|es|ing)|agreed|approach|conclu(?:ded|sion)|weil|stattdessen|entschieden|porque|decid\w+|parce que|perché)\b|决定|因为|所以|改为|修复|问题(?:是|在)|結論|ため|修正|때문|결정/iu;

const TROUBLE =
  /\b(?:errors?|fail(?:s|ed|ing|ure)?|exception|bugs?|broken|crash(?:es|ed)?|cannot|can'?t|doesn'?t work|does not (?:exist|work)|missing|wrong|regression|fehler|erreur|fallo|errore)\b|错误|失败|异常|崩溃|エラー|失敗|오류|실패/iu;

const NEXT =
  /\b(?:next(?: step)?s?|to-?do|remain(?:s|ing)?|still (?:need|have|to)|left to|not yet|pending|afterwards|need(?:s)? to|will now|i'?ll|let me (?:now|next)|follow-?up|als nächstes|noch zu|próximo|falta|ensuite|reste)\b|\[ \]|接下来|下一步|还需要|待办|次に|残り|다음/iu;

const DONE =
  /\b(?:done|completed?|finished|all (?:tests )?pass(?:es|ed|ing)?|works now|committed|merged|erledigt|fertig)\b|\[x\]|完成|已经|完了|완료/iu;

type Cue = "constraint" | "decision" | "trouble" | "next" | "done";

export function cuesOf(sentence: string): ReadonlySet<Cue> {
  const cues = new Set<Cue>();
  if (CONSTRAINT.test(sentence)) cues.add("constraint");
  if (DECISION.test(sentence)) cues.add("decision");
  if (TROUBLE.test(sentence)) cues.add("trouble");
  if (NEXT.test(sentence)) cues.add("next");
  if (DONE.test(sentence)) cues.add("done");
  return cues;
}

/*
 * The words of a message and of a part, for finding names in them: a call's input without its JSON escapes, so that "\nfoo"
 * isn't read as "nfoo". Only for reading; nothing is ever sent from here.
 */

export function partText(part: Part): string {
  switch (part.kind) {
    case "text":
    case "reasoning":
    case "result":
      return part.text;
    case "call":
      return inputText(part.input);
    case "image":
    case "file":
    case "other":
      return "";
  }
}

export function messageText<M>(message: M, shape: Shape<M>): string {
  return shape.parts(message).map(partText).join("\n");
}

/** All keys and values of a JSON text, a line each; the text itself when it is no JSON. */
function inputText(input: string): string {
  try {
    const texts: string[] = [];
    collect(JSON.parse(input), texts);
    return texts.join("\n");
  } catch {
    return input;
  }
}

function collect(value: unknown, texts: string[]): void {
  if (typeof value === "string" || typeof value === "number") texts.push(String(value));
  else if (Array.isArray(value)) for (const item of value) collect(item, texts);
  else if (typeof value === "object" && value !== null)
    for (const [key, item] of Object.entries(value)) {
      texts.push(key);
      collect(item, texts);
    }
}
