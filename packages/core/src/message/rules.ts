/**
 * What each provider accepts, as named rules. A rule lists where a conversation breaks it, over any shape; a rule set is a
 * provider's list of rules. Nothing is changed here: `repair.ts` does that, one pass per rule. Below: what a tool says of
 * itself.
 */
import type { Part, Shape } from "./shape.ts";

export type RuleName = keyof typeof RULES;

export interface Violation {
  readonly rule: RuleName;
  /** The message's place in the list. */
  readonly index: number;
  readonly detail: string;
}

export interface RuleSet {
  readonly name: string;
  readonly rules: readonly RuleName[];
  /** Whose signature `reasoning-signed` asks for. */
  readonly signer?: string;
}

/** A place where a rule is broken. */
interface Finding {
  readonly index: number;
  readonly detail: string;
}

type MessageRule = <M>(messages: readonly M[], shape: Shape<M>, set: RuleSet) => readonly Finding[];

const RULES = {
  "has-messages": hasMessages,
  "one-system": oneSystem,
  paired: unpaired,
  "no-empty-message": noEmptyMessage,
  "no-blank-text": noBlankText,
  "user-first": userFirst,
  alternate,
  "reasoning-first": reasoningFirst,
  "reasoning-leads": reasoningLeads,
  "reasoning-signed": reasoningSigned,
  "ends-with-request": endsWithRequest,
} satisfies Record<string, MessageRule>;

/** OpenAI would take system messages anywhere; one in front is what all its imitators understand. */
const COMMON = ["has-messages", "one-system", "paired", "no-empty-message"] as const;

export const openaiRules: RuleSet = { name: "openai", rules: COMMON };

/** Roles alternate on the wire: two user turns in a row are a violation even where the API would quietly join them. */
export const anthropicRules: RuleSet = {
  name: "anthropic",
  rules: [...COMMON, "no-blank-text", "user-first", "alternate", "reasoning-first", "reasoning-signed"],
  signer: "anthropic",
};

/** A thought stands in front of what it led to, and OpenAI takes back only its own. */
export const openaiResponsesRules: RuleSet = {
  name: "openai responses",
  rules: [...COMMON, "reasoning-signed", "reasoning-leads"],
  signer: "openai",
};

export const googleRules: RuleSet = {
  name: "google",
  rules: [...COMMON, "no-blank-text", "user-first", "alternate", "reasoning-first"],
};

/** The same rules for a list that is about to be sent: it must end with something to answer. */
export const forRequest = (set: RuleSet): RuleSet => ({
  ...set,
  name: `${set.name}, request`,
  rules: [...set.rules, "ends-with-request"],
});

export function violations<M>(messages: readonly M[], shape: Shape<M>, set: RuleSet): readonly Violation[] {
  return set.rules.flatMap((rule) => {
    const check: MessageRule = RULES[rule];
    return check(messages, shape, set).map((finding) => ({ rule, ...finding }));
  });
}

export function assertValid<M>(messages: readonly M[], shape: Shape<M>, set: RuleSet): void {
  const broken = violations(messages, shape, set);
  if (broken.length === 0) return;
  const lines = broken.map(({ rule, index, detail }) => `  message ${index}: ${detail} (${rule})`);
  throw new Error(`The ${set.name} rules are broken; repair() mends such a list:\n${lines.join("\n")}`);
}

/** Whether a part says anything to the model. Thinking alone is no answer, and providers refuse it as one. */
export const isContent = (part: Part): boolean =>
  part.kind !== "reasoning" && !(part.kind === "text" && part.text === "");

export const isBlank = (part: Part): boolean => part.kind === "text" && part.text.trim() === "";

function hasMessages<M>(messages: readonly M[], shape: Shape<M>): Finding[] {
  const some = messages.some((message) => shape.role(message) !== "system");
  return some ? [] : [{ index: 0, detail: "there is no message besides the system prompt" }];
}

function oneSystem<M>(messages: readonly M[], shape: Shape<M>): Finding[] {
  return where(messages, (message, index) => index > 0 && shape.role(message) === "system" && "a later system message");
}

/** A message's calls are all answered, once each, directly after it and before anything else. An id may serve again later. */
function unpaired<M>(messages: readonly M[], shape: Shape<M>): Finding[] {
  const findings: Finding[] = [];
  let calls: readonly string[] = [];
  let open = new Set<string>();
  let caller = 0;
  let interrupted = false;
  const close = () => {
    for (const id of open) findings.push({ index: caller, detail: `call ${id} has no result` });
  };

  for (const [index, message] of messages.entries()) {
    if (shape.role(message) !== "tool") {
      close();
      calls = shape.calls(message);
      open = calls.length === 0 ? NONE : new Set(calls);
      caller = index;
      interrupted = false;
      if (open.size < calls.length) findings.push({ index, detail: "two calls share an id" });
      continue;
    }
    for (const part of shape.parts(message)) {
      if (part.kind !== "result") interrupted ||= interrupts(part);
      else if (!open.delete(part.id)) findings.push({ index, detail: strayDetail(part.id, calls) });
      else if (interrupted) findings.push({ index, detail: `result ${part.id} stands after other content` });
    }
  }
  close();
  return findings;
}

const NONE = new Set<string>();

/** Blocks we don't interpret, such as an approval, may stand between results. */
export const interrupts = (part: Part): boolean =>
  part.kind === "text" || part.kind === "image" || part.kind === "file";

const strayDetail = (id: string, calls: readonly string[]): string =>
  calls.includes(id) ? `call ${id} has a second result` : `result ${id} has no call before it`;

function noEmptyMessage<M>(messages: readonly M[], shape: Shape<M>): Finding[] {
  return where(messages, (message) => !shape.parts(message).some(isContent) && "nothing in it but perhaps thinking");
}

function noBlankText<M>(messages: readonly M[], shape: Shape<M>): Finding[] {
  return where(messages, (message) => shape.parts(message).some(isBlank) && "a blank text part");
}

function userFirst<M>(messages: readonly M[], shape: Shape<M>): Finding[] {
  const index = messages.findIndex((message) => shape.role(message) !== "system");
  const role = index < 0 ? "user" : shape.role(messages[index]!);
  return role === "user" ? [] : [{ index, detail: `starts with a message of the ${role}` }];
}

function alternate<M>(messages: readonly M[], shape: Shape<M>): Finding[] {
  return where(messages, (message, index) => {
    const clash = index > 0 && sameTurn(messages[index - 1]!, message, shape);
    return clash && `a second ${shape.wireRole(message)} message in a row`;
  });
}

/** Whether the provider sees two turns of one speaker. Results in messages of their own role may follow each other. */
export function sameTurn<M>(first: M, second: M, shape: Shape<M>): boolean {
  const role = shape.wireRole(first);
  return role === shape.wireRole(second) && (role === "user" || role === "assistant");
}

function reasoningFirst<M>(messages: readonly M[], shape: Shape<M>): Finding[] {
  return where(messages, (message) => {
    const parts = shape.parts(message);
    const call = parts.findIndex(({ kind }) => kind === "call");
    const late = call >= 0 && parts.findLastIndex(({ kind }) => kind === "reasoning") > call;
    return late && "reasoning stands after the call it led to";
  });
}

function reasoningLeads<M>(messages: readonly M[], shape: Shape<M>): Finding[] {
  return where(messages, (message) => {
    const parts = shape.parts(message);
    return parts.length > 1 && parts.at(-1)!.kind === "reasoning" && "reasoning stands after what it led to";
  });
}

function reasoningSigned<M>(messages: readonly M[], shape: Shape<M>, set: RuleSet): Finding[] {
  const isForeign = isForeignTo(set);
  return where(
    messages,
    (message) => shape.parts(message).some(isForeign) && `reasoning that ${set.signer} has not signed`,
  );
}

/** Thinking that the provider of these rules has not signed. */
export const isForeignTo =
  ({ signer }: RuleSet) =>
  (part: Part): boolean =>
    part.kind === "reasoning" && part.signedBy !== signer;

function endsWithRequest<M>(messages: readonly M[], shape: Shape<M>): Finding[] {
  const last = messages.at(-1);
  const role = last === undefined ? "system" : shape.role(last);
  if (role === "user" || role === "tool") return [];
  return [{ index: Math.max(0, messages.length - 1), detail: "the last message asks for nothing" }];
}

function where<M>(messages: readonly M[], broken: (message: M, index: number) => string | false): Finding[] {
  const findings: Finding[] = [];
  for (const [index, message] of messages.entries()) {
    const detail = broken(message, index);
    if (detail !== false) findings.push({ index, detail });
  }
  return findings;
}

/*
 * What a tool is, as its definition says it. A log holds only the names of tools; a shape that was told their facts
 * (`withToolFacts` of dialects.ts) puts them on the parts it shows.
 */

export interface ToolFacts {
  /**
   * What a call does to the files that its arguments name. `list`: looks for files, or in them. `run`: an argument is a
   * shell command. `none`: it has nothing to do with files. Absent: guessed from the name.
   */
  readonly act?: ToolAct;
  /** The argument that holds what is written (`write`), stands in the file from now on (`edit`) or is run (`run`). */
  readonly text?: string;
  /** Its results repeat what was said in a thread: they are not indexed again, and erased with what they repeat. */
  readonly answers?: "history";
  /** It bounds its own results: they are never moved to a file. */
  readonly output?: "bounded";
  /** It keeps a time limit of its own, and is not held to the agent's. */
  readonly timeLimit?: "own";
  /** No sub-agent may have it. */
  readonly children?: "none";
}

export type ToolAct = "read" | "write" | "edit" | "delete" | "move" | "list" | "run" | "none";

/** By the name in a call; undefined for a tool that says nothing of itself. */
export type FindToolFacts = (name: string) => ToolFacts | undefined;

/* What a tool says of itself, where the AI SDK has a place for it: `metadata`, which no model sees. Readers take the facts from the tool. */

const KEY = "palimpsest";

/** The `metadata` of a tool that has these facts: `tool({ ..., metadata: describeTool({ act: "read" }) })`. */
export function describeTool(facts: ToolFacts): { readonly [KEY]: ToolFacts & Record<string, string> } {
  return { [KEY]: { ...facts } };
}

/** The facts that a tool of the AI SDK declares. */
interface DescribedTool {
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

export function factsOfTool(tool: DescribedTool | undefined): ToolFacts | undefined {
  const facts = tool?.metadata?.[KEY];
  return typeof facts === "object" && facts !== null ? (facts as ToolFacts) : undefined;
}

/** The facts of the given tools by name. It keeps no reference to the tools, which may hold a whole run. */
export interface ToolRegistry {
  readonly find: FindToolFacts;
  learn(tools: Readonly<Record<string, DescribedTool>>): void;
}

export function toolRegistry(): ToolRegistry {
  const known = new Map<string, ToolFacts>();
  return {
    find: (name) => known.get(name),
    learn(tools) {
      for (const [name, tool] of Object.entries(tools)) {
        const facts = factsOfTool(tool);
        if (facts !== undefined) known.set(name, facts);
      }
    },
  };
}
