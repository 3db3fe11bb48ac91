/**
 * The sizer of one run's thread: the one that the run before has left, or a new one whose account is resumed from the
 * reports in the log.
 */
import { sizeOf } from "@palimpsest/core/internal/prompt";
import { resumeAccount } from "@palimpsest/core/internal/tokens";
import type { AiSdkMessage } from "@palimpsest/core/message";
import { createSizer, type FixedSize, type Prompt, type Sizer, type SizerOptions } from "@palimpsest/core/prompt";
import { livePrompt } from "../threads/live-prompt.ts";
import { readUsages } from "./read-records.ts";
import type { Run } from "./run.ts";

/** What a run counts with, and what it has counted last: the next one goes on from it. */
export interface OpenSizer {
  readonly sizer: Sizer<AiSdkMessage>;
  readonly prompt: Prompt<AiSdkMessage> | null;
  /** When the provider was asked last, if it was. */
  readonly lastAt: number | null;
}

export interface OpenSizerOptions extends Pick<SizerOptions<AiSdkMessage>, "shape" | "rules" | "meter"> {
  readonly fixed: FixedSize;
  readonly model: string;
  readonly prior: number;
  readonly window: number;
  readonly before: OpenSizer | null;
}

export async function openSizer(run: Run, options: OpenSizerOptions): Promise<OpenSizer> {
  const { shape, rules, meter, fixed, model, prior, window, before } = options;
  if (before !== null) {
    before.sizer.fix(fixed);
    return before;
  }
  const { conversation, deps } = run;
  const sizer = createSizer({ shape, rules, meter, fixed });
  const prompt = livePrompt(conversation, sizer)();
  const usages = await readUsages(deps.store, run.threadId, conversation.head());
  const { factors } = conversation.head();
  const account = resumeAccount(usages, { prompt: sizeOf(prompt), factors, priorOf: () => prior, window });
  sizer.countOn({ account, model, prior });
  const newest = usages.at(-1);
  return { sizer, prompt, lastAt: newest === undefined ? null : Date.parse(newest.at) };
}
