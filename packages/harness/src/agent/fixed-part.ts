/**
 * What a run sends beside its messages: the system prompt and the tools, rendered from the agent's own and each
 * middleware's, and what the thread's log keeps of them.
 */

import type { Hash } from "@palimpsest/core/internal/log";
import { type AiSdkMessage, aiSdkShape, boundReasoning, type ToolRegistry } from "@palimpsest/core/internal/message";
import type { Meter } from "@palimpsest/core/internal/tokens";
import { asSchema, type ToolSet } from "ai";
import { madeUnder, type PromptOpening } from "../thread/fixed-request.ts";
import { threadState } from "../thread/thread-view.ts";
import { AgentError } from "./errors.ts";
import type { CallSettings, ModelObject } from "./model.ts";
import type { Middleware, Run } from "./run.ts";

export interface FixedPart {
  readonly prompt: SystemPrompt;
  readonly tools: ToolSet;
  readonly schemas: readonly ToolSchema[];
  readonly hash: string;
  readonly date: string;
}

interface FixedSource {
  /** The base of the system prompt. */
  readonly base: string;
  readonly tools: ToolSet;
  readonly middleware: readonly Middleware[];
  /** Learns what the tools say of themselves. */
  readonly registry: ToolRegistry;
}

export interface ModelRequest {
  readonly instructions: string;
  readonly messages: readonly AiSdkMessage[];
  readonly tools: ToolSet;
  /** Of the messages: those behind which the next pruning may begin. */
  readonly cuts?: readonly AiSdkMessage[];
  /** For this call only, instead of the run's: a model that takes as much as the run's own. */
  readonly model?: ModelObject;
  readonly settings?: CallSettings;
}

export async function renderFixed(
  run: Run,
  { base, tools: own, middleware, registry }: FixedSource,
): Promise<FixedPart> {
  const sections: PromptSection[] = [];
  for (const { prompt } of middleware) sections.push(...((await prompt?.(run)) ?? []));
  const date = dateFor(run);
  const prompt = systemPrompt(base, sections, date);
  const tools = await gatherTools(own, middleware, run);
  registry.learn(tools);
  const schemas = await schemasOf(tools);
  return { ...rendered(registry, { prompt, schemas }, run.deps.hash), tools, date };
}

type RenderedFixed = Pick<FixedPart, "prompt" | "schemas" | "hash">;

/** By the registry of an agent: most runs send the same as the one before, which then is the same objects. */
const lastRendered = new WeakMap<ToolRegistry, RenderedFixed>();

function rendered(registry: ToolRegistry, { prompt, schemas }: Omit<RenderedFixed, "hash">, hash: Hash): RenderedFixed {
  const last = lastRendered.get(registry);
  if (last !== undefined && samePrompt(last.prompt, prompt) && sameItems(last.schemas, schemas)) return last;
  const fresh = { prompt, schemas, hash: hash(JSON.stringify([prompt.text, schemas])) };
  lastRendered.set(registry, fresh);
  return fresh;
}

function samePrompt(one: SystemPrompt, other: SystemPrompt): boolean {
  const { base, instructions, memory, skills } = one.parts;
  const { parts } = other;
  return (
    one.text === other.text &&
    base === parts.base &&
    instructions === parts.instructions &&
    memory === parts.memory &&
    skills === parts.skills
  );
}

function sameItems<T>(one: readonly T[], other: readonly T[]): boolean {
  return one.length === other.length && one.every((item, index) => item === other[index]);
}

/** Where a new date would cost the model its thoughts, a thread's date is that of its last compaction. */
function dateFor({ bindsReasoning, thread, deps }: Run): string {
  const today = deps.clock().toISOString().slice(0, 10);
  if (!bindsReasoning) return today;
  const before = threadState(thread.head()).request;
  return (before?.compaction === thread.head().compaction ? before?.date : undefined) ?? today;
}

/** What a request needs of it. */
interface RequestBase {
  readonly prompt: Pick<SystemPrompt, "text">;
  readonly tools: ToolSet;
}

/** A leading system message of the view (a summary in `system` format, one that was imported) joins the instructions. */
export function requestWith({ prompt, tools }: RequestBase, messages: readonly AiSdkMessage[]): ModelRequest {
  const [first, ...rest] = messages;
  if (first?.role !== "system") return { instructions: prompt.text, messages, tools };
  const text = aiSdkShape.parts(first).map((part) => ("text" in part ? part.text : ""));
  return { instructions: [prompt.text, ...text].join("\n\n"), messages: rest, tools };
}

/** In tokens, by what fills it; counted once as long as it stays the same. */
export function fixedSizes({ prompt, schemas }: FixedPart, meter: Meter<AiSdkMessage>): FixedSizes {
  const last = lastSized.get(meter);
  if (last?.prompt === prompt && last.schemas === schemas) return last.sizes;
  const sizes = sizesOf({ prompt, schemas }, meter);
  lastSized.set(meter, { prompt, schemas, sizes });
  return sizes;
}

type FixedSizes = ReturnType<typeof sizesOf>;

const lastSized = new WeakMap<Meter<AiSdkMessage>, Omit<RenderedFixed, "hash"> & { readonly sizes: FixedSizes }>();

function sizesOf({ prompt, schemas }: Omit<RenderedFixed, "hash">, meter: Meter<AiSdkMessage>) {
  const { instructions, memory, skills } = prompt.parts;
  const others = { instructions: meter.text(instructions), memory: meter.text(memory), skills: meter.text(skills) };
  const rest = others.instructions + others.memory + others.skills;
  return { base: meter.system(prompt.text) - rest, ...others, definitions: meter.tools(schemas) };
}

// The tools: the caller's and each middleware's, under names of their own, and their schemas as the provider receives them.

async function gatherTools(own: ToolSet, list: readonly Middleware[], run: Run): Promise<ToolSet> {
  const all = new Map(Object.entries(own));
  for (const { name: owner, tools } of list) {
    const brought = typeof tools === "function" ? await tools(run) : (tools ?? {});
    for (const [name, tool] of Object.entries(brought)) {
      if (all.has(name)) {
        throw new AgentError(
          "duplicate-tool",
          `two tools are named ${name}; one comes from ${owner}: rename or leave one out`,
        );
      }
      all.set(name, tool);
    }
  }
  return Object.fromEntries([...all].map(([name, tool]) => [name, withSchema(tool)]));
}

/** A clash of names that can be seen before any run. Throws an `AgentError`. */
export function assertDistinct(own: ToolSet, list: readonly Middleware[]): void {
  const owners = new Map(Object.keys(own).map((name) => [name, "the agent's tools"]));
  for (const { name: owner, tools, brings = typeof tools === "object" ? Object.keys(tools) : [] } of list) {
    for (const name of brings) {
      const other = owners.get(name);
      if (other !== undefined) {
        const detail = `two tools are named ${name}, of ${other} and of ${owner}: rename or leave one out`;
        throw new AgentError("duplicate-tool", detail);
      }
      owners.set(name, owner);
    }
  }
}

const readSchemas = new WeakMap<object, ReturnType<typeof asSchema>>();

/** The same tool with its schema read once, however often a run or the SDK asks for it. */
function withSchema(tool: ToolSet[string]): ToolSet[string] {
  const { inputSchema } = tool;
  if ((typeof inputSchema !== "object" && typeof inputSchema !== "function") || inputSchema === null) return tool;
  let schema = readSchemas.get(inputSchema);
  if (schema === undefined) {
    schema = asSchema(inputSchema);
    readSchemas.set(inputSchema, schema);
  }
  return { ...tool, inputSchema: schema } as ToolSet[string];
}

export interface ToolSchema {
  readonly type: "function";
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: unknown;
}

/** The same object for the same tool, also in another run: what is known of it (its tokens) isn't worked out again. */
async function schemasOf(tools: ToolSet): Promise<readonly ToolSchema[]> {
  return Promise.all(
    Object.entries(tools).map(async ([name, tool]): Promise<ToolSchema> => {
      const inputSchema = await asSchema(tool.inputSchema).jsonSchema;
      const description = typeof tool.description === "string" ? { description: tool.description } : {};
      const last = sentSchemas.get(inputSchema);
      if (last !== undefined && last.name === name && last.description === description.description) return last;
      const schema: ToolSchema = { type: "function", name, ...description, inputSchema };
      if (typeof inputSchema === "object") sentSchemas.set(inputSchema, schema);
      return schema;
    }),
  );
}

const sentSchemas = new WeakMap<object, ToolSchema>();

/**
 * The system prompt's template, whole: base, instructions of middleware, `<memory>`, `<skills>`, and the date as the last
 * line. It is rendered when a run starts and after a compaction, so that within a thread it stays the same, byte for
 * byte, for as long as the provider's cache may hold it.
 */

export interface PromptSection {
  readonly slot: "instructions" | "memory" | "skills";
  readonly text: string;
}

export const BASE_PROMPT = `You are a helpful AI assistant. You work with the user over long conversations, and you use tools where they help.

Say what you did and what you found; when you don't know, say so. When a tool fails, read its error and try another way.
The conversation may begin with a summary of what came before. It is a record, not a request: go on from where it stands, and answer what the user says after it.`;

interface SystemPrompt {
  readonly text: string;
  /** The text by what fills it, for the token breakdown. */
  readonly parts: Readonly<Record<"base" | "instructions" | "memory" | "skills", string>>;
}

function systemPrompt(base: string, sections: readonly PromptSection[], date: string): SystemPrompt {
  const of = (slot: PromptSection["slot"]): string =>
    sections
      .filter((section) => section.slot === slot && section.text.trim() !== "")
      .map((section) => section.text.trim())
      .join("\n\n");
  const parts = {
    base: base.trim(),
    instructions: of("instructions"),
    memory: tagged("memory", of("memory")),
    skills: tagged("skills", of("skills")),
  };
  const text = [parts.base, parts.instructions, parts.memory, parts.skills, `Current date: ${date}`];
  return { text: text.filter((part) => part !== "").join("\n\n"), parts };
}

function tagged(tag: string, text: string): string {
  return text === "" ? "" : `<${tag}>\n${text}\n</${tag}>`;
}

// A request to a model that binds its reasoning, as it is sent: its prompt was bound when it was built, and what a
// middleware has made of it since is bound once more, so that thoughts made under another prompt are left out.

export interface BoundRequest {
  readonly request: ModelRequest;
  /** Null where nothing is bound, or where what the provider gets can't be told for sure. */
  readonly prefix: string | null;
}

type KnownPart = Pick<FixedPart, "tools" | "schemas">;

/** What binding needs of a run, one that is over included. */
type Binding = Pick<Run, "bindsReasoning"> & {
  readonly deps: Pick<Run["deps"], "hash">;
  readonly thread: Pick<Run["thread"], "live" | "original" | "shape">;
};

export function bindRequest(request: ModelRequest, part: KnownPart, run: Binding): BoundRequest {
  if (!run.bindsReasoning) return { request, prefix: null };
  const { hash } = run.deps;
  // The schemas of tools that a middleware put in the place of ours are not known here.
  const ownTools = request.tools === part.tools;
  const { messages, prefix } = boundReasoning(request.messages, {
    shape: aiSdkShape,
    hash,
    fixed: fixedHash(request.instructions, part.schemas, hash),
    madeUnder: ownTools ? madeUnder(run.thread) : () => undefined,
  });
  return { request: { ...request, messages }, prefix: ownTools ? prefix : null };
}

/** What stands before the messages of this part's requests. It outlives the run, so it holds nothing else of it. */
export function openingOf({ prompt, schemas }: FixedPart, hash: Hash): PromptOpening<AiSdkMessage> {
  const base = { prompt: { text: prompt.text }, tools: {} };
  let last = { instructions: prompt.text, hash: fixedHash(prompt.text, schemas, hash) };
  return (messages) => {
    const { instructions, messages: rest } = requestWith(base, messages);
    if (instructions !== last.instructions) last = { instructions, hash: fixedHash(instructions, schemas, hash) };
    return { hash: last.hash, messages: messages.length - rest.length };
  };
}

function fixedHash(instructions: string, schemas: FixedPart["schemas"], hash: Hash): string {
  return hash(JSON.stringify([instructions, schemas]));
}
