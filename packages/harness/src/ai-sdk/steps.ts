/**
 * A thread under the AI SDK's own loop: what each step says goes into the log, what each step sends is the thread's prompt,
 * and what the provider counts anchors the next one. The loop, the tools and the model stay the application's.
 */
import { randomUUID } from "node:crypto";
import { shapeOf } from "@palimpsest/core/internal/message";
import type { ContentPart, LanguageModel, LanguageModelUsage, ModelMessage, TextStreamPart, ToolSet } from "ai";
import { windowOf } from "../models/facts.ts";
import { asUser } from "../stores/driver-rules.ts";
import type { IdentifiedMessage } from "../thread/log.ts";
import { type OpenThread, type OpenThreadOptions, openThread } from "../thread/open-thread.ts";
import { HeardStep } from "./heard-step.ts";

type TakenStep = "id" | "shape" | "hold" | "window" | "fixed";

/** Beside these, those of a thread. */
export interface ThreadSettingsOptions extends Omit<OpenThreadOptions<ModelMessage>, TakenStep> {
  readonly threadId: string;
  /** The model's input window in tokens; by default what is known of the model by its name. */
  readonly window?: number | undefined;
  /** The run's tools, so that their schemas are counted before the provider has counted them. */
  readonly tools?: Readonly<Record<string, unknown>> | undefined;
  /** The request's own name: what it says is passed over when it comes again, such as after a crash. */
  readonly requestId?: string | undefined;
}

/** For `generateText`, `streamText` or a `ToolLoopAgent`: all of them, or the run's last answer isn't in the log. */
export interface StepSettings {
  readonly prepareStep: (step: StepToPrepare) => Promise<{ messages: ModelMessage[] }>;
  readonly onLanguageModelCallEnd: (call: EndedCall) => Promise<void>;
  readonly onStepEnd: (step: EndedStep) => Promise<void>;
  readonly onChunk: (event: { readonly chunk: TextStreamPart<ToolSet> }) => void;
  /** What was heard of the step under way goes into the log before the stream ends. */
  readonly onAbort: () => Promise<void>;
}

/** What is needed of the SDK's own. */
interface StepToPrepare {
  readonly stepNumber: number;
  readonly model: LanguageModel;
  readonly instructions: unknown;
  /** What is new in this run; the thread has the rest. */
  readonly initialMessages: readonly ModelMessage[];
  readonly responseMessages: readonly ModelMessage[];
}

interface EndedCall {
  readonly usage: LanguageModelUsage;
  readonly content: readonly ContentPart<ToolSet>[];
}

interface EndedStep {
  readonly response: { readonly messages: readonly ModelMessage[] };
}

export interface ThreadSettings extends StepSettings {
  /** The same five, to be spread. */
  readonly settings: StepSettings;
  /** Opened by the first step, or now. */
  thread(): Promise<OpenThread<ModelMessage>>;
  /** Writes what could not be written when its step ended. Throws if it still can't. */
  close(): Promise<void>;
}

/** `prepareStep: threadSettings({ ... })` is one step of it; spread its `settings` to have all. */
export function threadSettings(options: ThreadSettingsOptions): ThreadSettings & StepSettings["prepareStep"] {
  const steps = threadSteps(options);
  return Object.assign((step: StepToPrepare) => steps.prepareStep(step), steps);
}

/** Of a model that nothing is known of. */
const FALLBACK_WINDOW = 32_768;

function threadSteps(options: ThreadSettingsOptions): ThreadSettings {
  const { threadId, window, tools = {}, requestId, ...thread } = options;
  let model: string | undefined = options.model;
  let open: Promise<OpenThread<ModelMessage>> | null = null;
  /** Names what the run answers; another run of the same request answers anew. */
  let run: string = randomUUID();
  let isUsed = false;
  let unwritten: (StepAnswer & { readonly id: string })[] = [];
  let answered = 0;
  let heard = new HeardStep();

  const opened = (): Promise<OpenThread<ModelMessage>> => {
    open ??= openNow({ ...thread, id: threadId, model, window: () => window ?? knownWindow(model) });
    // What failed once may work the next time.
    open.catch(() => {
      open = null;
    });
    return open;
  };
  const write = async (messages: readonly StepAnswer[], from: number): Promise<void> => {
    const answers = messages.map((one, at) => ({ ...one, id: `${run}:${from + at}` }));
    unwritten = [...unwritten.filter(({ id }) => !answers.some((one) => one.id === id)), ...answers];
    await (await opened()).append(unwritten);
    unwritten = [];
  };

  /** If callers passed the whole history each time, it couldn't be told from repeated messages. */
  const sayNew = async (session: OpenThread<ModelMessage>, messages: readonly ModelMessage[]): Promise<void> => {
    const head = await asUser(options.store, session.userId).head(threadId);
    const isWhole = requestId === undefined && messages.some(({ role }) => role === "assistant");
    if (isWhole && head !== undefined && head.messages > 0)
      throw new TypeError(`thread ${threadId} has what was said before: give only what is new as messages`);
    await session.append(messages.map((message, at) => ({ id: `${requestId ?? `${run}:said`}:${at}`, message })));
  };

  const settings: StepSettings = {
    async prepareStep({ stepNumber, model: asked, instructions, initialMessages, responseMessages }) {
      model ??= typeof asked === "string" ? asked : asked.modelId;
      const session = await opened();
      if (stepNumber === 0) {
        if (isUsed) run = randomUUID();
        isUsed = true;
        await sayNew(session, initialMessages);
      }
      await write(responseMessages.map(asAnswer), 0);
      answered = responseMessages.length;
      heard = new HeardStep();
      const fixed = { system: textOf(instructions), tools: Object.values(tools) };
      const { messages } = await session.prompt({ fixed });
      return { messages: [...messages] };
    },
    async onLanguageModelCallEnd({ usage, content }) {
      heard.answered(content);
      await (await opened()).report(usage);
    },
    async onStepEnd({ response }) {
      heard = new HeardStep();
      await write(response.messages.map(asAnswer), answered);
    },
    onChunk: ({ chunk }) => heard.hear(chunk),
    // Only asked for `toModelOutput`.
    onAbort: async () => write(await heard.messages(tools as ToolSet), answered),
  };
  return {
    ...settings,
    settings,
    thread: opened,
    async close() {
      const session = await open;
      if (unwritten.length > 0) await session?.append(unwritten);
      await session?.close();
    },
  };
}

type StepAnswer = Pick<IdentifiedMessage<ModelMessage>, "message" | "origin">;

const asAnswer = (message: ModelMessage): StepAnswer => ({ message });

async function openNow(options: Omit<OpenThreadOptions<ModelMessage>, "shape">): Promise<OpenThread<ModelMessage>> {
  const opened = await openThread({ ...options, shape: shapeOf<ModelMessage>("ai-sdk") });
  if (opened.kind === "open") return opened.thread;
  throw new TypeError(`thread ${options.id} can't be opened: ${"problem" in opened ? opened.problem : opened.kind}`);
}

const knownWindow = (model: string | undefined): number =>
  windowOf({ provider: "ai-sdk", model: model ?? "" }, FALLBACK_WINDOW).tokens;

/** Instructions are a text, a message, or several. */
function textOf(instructions: unknown): string {
  if (typeof instructions === "string") return instructions;
  const list: readonly unknown[] = Array.isArray(instructions) ? instructions : [instructions];
  return list.map((one) => String((one as { readonly content?: unknown } | undefined)?.content ?? "")).join("\n");
}
