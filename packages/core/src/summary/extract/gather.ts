/**
 * One pass over the covered messages for the extractive summarizer: who said what, what each tool result answers, and
 * how often each name occurs. Names that come back are worth more than names seen once.
 */
import type { Shape } from "../../message/shape.ts";
import { clip } from "../../text/clip.ts";
import { lastStep, type Name, namesIn } from "../../text/names.ts";
import type { NumberedMessage } from "../ledger/ledger.ts";
import { commandEffects, readCall } from "../ledger/tool-calls.ts";
import { mediaName } from "../render/media-name.ts";

export interface Gathered {
  readonly user: readonly Said[];
  readonly assistant: readonly Said[];
  /** Distinct names that each tool was called with. */
  readonly asked: readonly NameHome[];
  /** Images and files in words, with who gave them. */
  readonly media: readonly Said[];
  /** In how many messages each name occurs. */
  readonly frequency: ReadonlyMap<string, number>;
}

export interface NameHome {
  readonly seq: number;
  readonly label: string;
  readonly names: readonly string[];
}

export interface Said {
  readonly seq: number;
  readonly text: string;
}

/** Names per message that take part; a 5 MB listing has more than a summary could ever name. */
const MAX_NAMES = 4000;

/** A step is one message. */
export function* gather<M>(entries: readonly NumberedMessage<M>[], shape: Shape<M>): Generator<void, Gathered> {
  const user: Said[] = [];
  const assistant: Said[] = [];
  const media: Said[] = [];
  const frequency = new Map<string, number>();
  const labels = new Map<string, string>();
  const asked = new Map<string, { seq: number; names: Set<string> }>();
  for (const { seq, message } of entries) {
    yield;
    const role = shape.role(message);
    if (role === "system") continue;
    const here = new Set<string>();
    let label: string = role;
    for (const part of shape.parts(message)) {
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
  for (const name of namesIn(text)) {
    if (!isWanted(name)) continue;
    into.add(name.text);
    if (into.size >= MAX_NAMES) return;
  }
}

/** A number of two digits that a tool gives tells nothing by itself. */
function isTelling({ kind, text }: Name): boolean {
  return kind !== "number" || text.replace(/\D/g, "").length >= 3;
}

/** Of JSON the values: its keys come back in every result, and name nothing. */
function addValues(text: string, into: Set<string>, isWanted = isTelling): void {
  if (into.size >= MAX_NAMES) return;
  const keys = new Set([...text.matchAll(/"([\w.$-]{1,100})" ?:/g)].map(([, key]) => key!));
  addNames(text, into, (name) => !keys.has(name.text) && isWanted(name));
}

/** What a tool was called with, all its calls together: one of them alone is often a single name. */
function addAsked(call: CallPart, seq: number, asked: Map<string, { seq: number; names: Set<string> }>): void {
  if (readCall(call).kind !== "other") return;
  const tool = asked.get(call.name) ?? { seq, names: new Set() };
  asked.set(call.name, tool);
  addValues(call.input, tool.names, ({ kind }) => kind !== "number");
}

type CallPart = Parameters<typeof readCall>[0];

function callLabel(call: CallPart): string {
  const meaning = readCall(call);
  if (meaning.kind === "files") return `${call.name} ${lastStep(meaning.acts[0]!.path)}`;
  if (meaning.kind === "other") return call.name;
  const file = commandEffects(meaning.command).files[0];
  const program = meaning.command.replace(/^cd [^&;]+(?:&&|;)\s*/, "").split(/\s+/)[0]!;
  return clip(file === undefined ? program : `${program} ${lastStep(file.path)}`, 60);
}
