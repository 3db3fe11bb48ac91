/**
 * The prompts of one open thread and the reports on them: what would be sent, what was sent last, and the usage record
 * that settles a report on it. Its sizer is the one that was left before, or a new one whose account is resumed from the
 * reports in the log. Writes nothing.
 */
import { sizeOf } from "@palimpsest/core/internal/prompt";
import { resumeAccount } from "@palimpsest/core/internal/tokens";
import type { Hash, UsageFlaw, UsageRecord } from "@palimpsest/core/log";
import { type RuleSet, repair, type Shape } from "@palimpsest/core/message";
import { createSizer, type FixedSize, type Prompt, type Sizer, type SizerOptions } from "@palimpsest/core/prompt";
import type { Usage } from "../models/usage.ts";
import type { Store } from "../stores/store.ts";
import type { Conversation } from "../threads/conversation.ts";
import { livePrompt, shownAt } from "../threads/live-prompt.ts";
import type { RecordInput } from "../threads/writer.ts";
import { type Opening, thoughtBinder } from "./bound-thoughts.ts";
import type { ModelWindow } from "./model-window.ts";

/** What a thread is counted with, and what was counted last: whoever opens it next goes on from it. */
export interface OpenSizer<M> {
  readonly sizer: Sizer<M>;
  readonly prompt: Prompt<M> | null;
  /** When the provider was asked last, if it was. */
  readonly lastAt: number | null;
  /** Others have written since: what they report is not counted yet. */
  readonly moved?: boolean;
}

export interface PromptingOptions<M extends object> extends Pick<SizerOptions<M>, "rules" | "meter"> {
  readonly fixed: FixedSize;
  /** What thoughts are bound to beside the messages; null: the model takes every thought back. */
  readonly opening: Opening<M> | null;
  readonly hash: Hash;
  /** Who is asked: whose reports count, and what they start from. */
  readonly model: string;
  readonly prior: number;
  readonly modelWindow: ModelWindow;
  readonly clock: () => Date;
  readonly before: OpenSizer<M> | null;
}

export interface Prompting<M> {
  /** What would be sent now. */
  prompt(): Prompt<M>;
  /** The same, and it is sent: the next report is on it. */
  ask(): Asked<M>;
  fixed(): FixedSize;
  /** Another system prompt, other tools from here on. */
  fix(fixed: FixedSize, opening: Opening<M> | null): void;
  /** When the provider was asked last, as far as its reports say. */
  lastAt(): number | null;
  /** The usage record for the message at `of`. `asked`: what it answered, when that isn't what was sent last. */
  report(usage: Usage, of: number, asked?: Asked<M> | null): UsageInput;
  /** Somebody else has written: counts on the reports that the log has now. */
  recount(): Promise<void>;
  /** For whoever opens the thread next. */
  opened(): OpenSizer<M>;
}

/** A prompt that was sent, and the view it showed. */
export interface Asked<M> {
  readonly prompt: Prompt<M>;
  /** As they go out: the prompt's, and where that ends with an answer, a word that asks for the next one. */
  readonly messages: readonly M[];
  /** The hash of the whole request, where the model binds its thoughts to it. */
  readonly prefix: string | null;
  readonly measured: UsageRecord["measured"];
}

export type UsageInput = Extract<RecordInput, { kind: "usage" }>;

/** An open thread and where it is stored. */
interface StoredConversation<M> {
  readonly store: Store;
  readonly conversation: Conversation<M>;
}

export async function openPrompting<M extends object>(
  thread: StoredConversation<M>,
  { modelWindow, clock, ...options }: PromptingOptions<M>,
): Promise<Prompting<M>> {
  const { conversation } = thread;
  const { shape } = conversation;
  let binder: ReturnType<typeof thoughtBinder<M>> | undefined;
  const bind = (opening: Opening<M> | null) => {
    if (opening === null) return null;
    binder ??= thoughtBinder(conversation, options.hash);
    return binder(opening);
  };
  const counted = { ...options, bind: bind(options.opening), window: (): number => modelWindow.window().size };
  const { sizer, ...known } = await openSizer(thread, counted);
  const prompt = livePrompt(conversation, sizer, known.prompt);
  let { lastAt } = known;
  let last: Asked<M> | null = null;
  const now = (): Asked<M> => {
    const measured = { ...shownAt(conversation), promptHash: sizer.fixed.hash };
    const whole = prompt();
    if (last?.prompt.messages === whole.messages) return { ...last, prompt: whole, measured };
    const messages = endingWithRequest(whole.messages, shape);
    const { prefix } = messages === whole.messages ? whole : (sizer.bind?.(messages) ?? whole);
    return { prompt: whole, messages, prefix, measured };
  };
  return {
    prompt,
    ask() {
      last = now();
      return last;
    },
    fixed: () => sizer.fixed,
    fix: (fixed, opening) => sizer.fix(fixed, bind(opening)),
    lastAt: () => lastAt,
    report(usage, of, asked = last) {
      const { prompt: sent, measured } = asked ?? now();
      const settled = sizer.settle({ of, ...usage }, sizeOf(sent), counted.window());
      lastAt = clock().getTime();
      if (settled.kind === "accepted") modelWindow.accept(usage.input);
      return {
        kind: "usage",
        of,
        model: options.model,
        ...usage,
        measured,
        factor: settled.kind === "accepted" ? settled.factor : null,
        flaw: settled.kind === "accepted" ? null : flawOf(settled.reason),
      };
    },
    async recount() {
      lastAt = (await countOnReports(thread, sizer, { ...counted, prompt: prompt() })) ?? lastAt;
    },
    opened: () => ({ sizer, prompt: last?.prompt ?? known.prompt, lastAt }),
  };
}

function flawOf(reason: string): UsageFlaw {
  return reason === "zero" || reason === "over-window" ? reason : "implausible";
}

/** What a list that keeps all other rules needs to be sent. */
const LAST_RULE: RuleSet = { name: "request", rules: ["ends-with-request"] };

export function endingWithRequest<M>(messages: readonly M[], shape: Shape<M>): readonly M[] {
  const last = messages.at(-1);
  const role = last === undefined ? null : shape.role(last);
  return role === "user" || role === "tool" ? messages : repair(messages, shape, LAST_RULE).messages;
}

/** Whose reports count, what they start from, and the most the model takes. */
interface CountedModel {
  readonly model: string;
  readonly prior: number;
  readonly window: () => number;
}

async function openSizer<M extends object>(
  thread: StoredConversation<M>,
  options: CountedModel & Pick<PromptingOptions<M>, "before"> & Required<Omit<SizerOptions<M>, "shape" | "account">>,
): Promise<OpenSizer<M>> {
  const { rules, meter, fixed, bind, before } = options;
  const { shape } = thread.conversation;
  if (before !== null && !before.moved && countsFor(options, before.sizer)) {
    const { account } = before.sizer;
    if (before.sizer.shape !== shape)
      return { ...before, sizer: createSizer({ shape, rules, meter, fixed, bind, account }) };
    before.sizer.fix(fixed, bind);
    return before;
  }
  const sizer = createSizer({ shape, rules, meter, fixed, bind });
  const prompt = livePrompt(thread.conversation, sizer, before?.prompt)();
  return { sizer, prompt, lastAt: await countOnReports(thread, sizer, { ...options, prompt }) };
}

/** Another agent may have left it, which asks another model or knows other tools. */
function countsFor<M>(
  { meter, model, prior }: CountedModel & Pick<SizerOptions<M>, "meter">,
  sizer: Sizer<M>,
): boolean {
  return sizer.meter === meter && sizer.account?.model === model && sizer.account.prior === prior;
}

/** From here on the sizer counts on what the log reports; returns when the provider was asked last. */
async function countOnReports<M>(
  { store, conversation }: StoredConversation<M>,
  sizer: Sizer<M>,
  { prompt, model, prior, window }: CountedModel & { readonly prompt: Prompt<M> },
): Promise<number | null> {
  const head = conversation.head();
  const reports = await readReports(store, conversation);
  const resumed = { prompt: sizeOf(prompt), factors: head.factors, priorOf: () => prior, window: window() };
  sizer.countOn({ account: resumeAccount(reports, resumed), model, prior });
  const newest = reports.at(-1);
  return newest === undefined ? null : Date.parse(newest.at);
}

/** Enough to learn a model's factor from; more would only cost time on a long tail. */
const REPORTS = 64;

/** The newest reports on what is visible now, oldest first. */
async function readReports<M>(store: Store, conversation: Conversation<M>): Promise<readonly UsageRecord[]> {
  const { hiddenThrough, version, usage } = conversation.head();
  const range = [hiddenThrough + 1, version] as const;
  if (usage === null || range[0] > range[1]) return [];
  const known = conversation.reports?.() ?? null;
  if (known !== null) return known.filter(isFlawless).slice(-REPORTS);
  const reports: UsageRecord[] = [];
  const query = { range, kinds: ["usage"], order: "descending" } as const;
  for await (const { record } of store.records(conversation.header.id, query)) {
    if (record.kind === "usage" && isFlawless(record)) reports.push(record);
    if (reports.length >= REPORTS) break;
  }
  return reports.toReversed();
}

function isFlawless({ flaw }: UsageRecord): boolean {
  return flaw == null;
}
