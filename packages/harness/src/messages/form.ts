/**
 * How an array of messages is read: by its own shape or by the dialect it is in. A flat list of OpenAI's Responses items is
 * gathered into turns, since one answer is several items, and what is sent is a flat list again.
 */
import { PalimpsestError } from "@palimpsest/core/errors";
import { DIALECTS, openaiRules, unreadable } from "@palimpsest/core/internal/message";
import type { MessageSource } from "@palimpsest/core/log";
import {
  type Detection,
  type Dialect,
  detectDialect,
  type ResponsesItem,
  type RuleSet,
  responsesItems,
  responsesTurns,
  rulesOf,
  type Shape,
  shapeOf,
} from "@palimpsest/core/message";
import { grownArrays } from "./grown-array.ts";

export interface FormOptions<M extends object> {
  readonly shape?: Shape<M>;
  readonly rules?: RuleSet;
  readonly dialect?: Dialect;
}

export interface Form<M> {
  readonly shape: Shape<M>;
  readonly rules: RuleSet;
  /** The messages as the shape reads them. */
  turns(messages: readonly M[]): readonly M[];
  /** The place, from 1, of the turn that holds the message at this place. */
  turnOf(messages: readonly M[], place: number): number;
  /** Turns as they are sent, with what each begins with. */
  sent(turns: readonly M[], sources: readonly MessageSource[]): Sent<M>;
}

interface Sent<M> {
  readonly messages: readonly M[];
  readonly sources: readonly MessageSource[];
}

export function formOf<M extends object>(messages: readonly M[], options: FormOptions<M>): Form<M> {
  if (options.shape !== undefined) return plainForm(options.shape, options.rules ?? rulesFor(options.shape.dialect));
  const dialect = options.dialect ?? dialectOf(messages);
  // The message types are known only to their shapes; which one it is was just found out.
  const form = plainForm(shapeOf(dialect) as unknown as Shape<M>, options.rules ?? rulesOf(dialect));
  const flat = dialect === "openai-responses" && !messages.some(Array.isArray);
  return flat ? flatForm(form) : form;
}

const detections = grownArrays<Detection>();

/** Of an array that has grown, only what is new is looked at, unless it speaks for another dialect. Throws for what no dialect has. */
function dialectOf(messages: readonly object[]): Dialect {
  const { same, value: before, keep } = detections(messages);
  const fresh = before === undefined ? messages : messages.slice(same);
  if (unreadable(fresh) !== null) throw new PalimpsestError("bad-message", unreadable(messages)!);
  const now = detectDialect(fresh);
  const stands = before !== undefined && (now.marked === 0 || now.dialect === before.dialect);
  const detection = stands ? before : before === undefined ? now : detectDialect(messages);
  keep(detection);
  return detection.dialect;
}

function rulesFor(dialect: string): RuleSet {
  return DIALECTS.includes(dialect as Dialect) ? rulesOf(dialect as Dialect) : openaiRules;
}

function plainForm<M extends object>(shape: Shape<M>, rules: RuleSet): Form<M> {
  return {
    shape,
    rules,
    turns: (messages) => messages,
    turnOf: (_, place) => place,
    sent: (messages, sources) => ({ messages, sources }),
  };
}

function flatForm<M extends object>(form: Form<M>): Form<M> {
  const gather = (messages: readonly M[]) => responsesTurns(messages as readonly ResponsesItem[]) as readonly M[];
  const itemsOf = (turn: M) => responsesItems([turn as ResponsesItem]) as readonly object[] as readonly M[];
  return {
    ...form,
    turns: gather,
    turnOf: (messages, place) => gather(messages.slice(0, place)).length,
    sent(turns, sources) {
      const lists = turns.map(itemsOf);
      return { messages: lists.flat(), sources: lists.flatMap((items, index) => items.map(() => sources[index]!)) };
    },
  };
}
