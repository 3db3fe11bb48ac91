/** What the commands that talk with the agent share. */
import { resolve } from "node:path";
import { admitWorkspace } from "palimpsest/internal/home";
import { offeredModels } from "palimpsest/internal/models";
import { everyThread, type Store } from "palimpsest/stores";
import type { Context } from "../command/command.ts";
import { Failure, UsageError } from "../command/failure.ts";
import { ask, canAsk, isYes } from "./ask.ts";
import { requireThreadId } from "./home.ts";

export interface TalkOptions {
  readonly thread?: string;
  readonly continue?: boolean;
  readonly workspace?: string;
  readonly agent?: string;
  readonly model?: string;
  /** In tokens. */
  readonly window?: number;
  /** In seconds. */
  readonly wait?: number;
}

/** A name that was given must be meant: another model's answer would be a wrong one, or another's bill. */
export async function requireModel({ located }: Context, name: string | null): Promise<void> {
  if (name === null) return;
  const { models } = await located.settings();
  const known = models.length === 0 ? ["offline"] : models.map((model) => model.name);
  if (known.includes(name)) return;
  const next = models.length === 0 ? `; none is configured: ${wayToOne(name)}` : "";
  throw new UsageError(`There is no model "${name}" under models: (there: ${known.join(", ")})${next}.`, {
    word: name,
    known,
  });
}

/** With a key in the environment, the command that makes a model of the name. */
function wayToOne(name: string): string {
  const [offer] = offeredModels(process.env);
  if (offer === undefined || offer.baseUrl !== null) return '"palimpsest config init" does it';
  return `$${offer.variable} is set, so "palimpsest config init --provider ${offer.provider} --model ${name}" does it`;
}

/** The thread that was named, or the newest with `--continue`; undefined: a new one. */
export async function chosenThread(options: TalkOptions, store: Store): Promise<string | undefined> {
  if (options.continue !== true) return options.thread;
  for await (const { header } of everyThread(store, { kind: "main", order: "recent" }))
    if (options.agent === undefined || header.agent === options.agent) return header.id;
  const of = options.agent === undefined ? "" : ` of the agent ${JSON.stringify(options.agent)}`;
  throw new Failure("missing", `There is no thread${of} to go on with yet.`);
}

export function checkTalk({ thread, continue: newest }: TalkOptions): void {
  if (thread !== undefined && newest === true) throw new UsageError("--thread and --continue can't be combined.");
  if (thread !== undefined) requireThreadId(thread);
}

/** The directory the agent may work in; null: the thread's own. The person is asked once about each directory. */
export async function chosenWorkspace({ workspace }: TalkOptions, context: Context): Promise<string | null> {
  if (workspace === undefined) return null;
  if (workspace === "") throw new UsageError("--workspace is empty: name a directory.");
  const { located, output, format, signal } = context;
  const admission = admitWorkspace(resolve(workspace), { home: context.home, person: located.person });
  const { directory } = admission;
  switch (admission.kind) {
    case "use":
      return directory;
    case "missing":
      throw new Failure("missing", `There is no directory ${directory}: name one that exists with --workspace.`);
    case "other-user":
      throw new Failure("untrusted", `${directory} belongs to another user of this machine: it is not used.`);
    case "holds-home":
      throw new Failure(
        "untrusted",
        `${directory} holds the home ${context.home}, and the agent could change its own memory there: choose another directory, or another --home.`,
      );
    case "ask": {
      if (canAsk(format)) {
        await output.line(`The agent would read, change and delete files in ${directory} and below it, nowhere else.`);
        if (isYes(await ask("Allow it, now and later? [y/N] ", signal))) {
          admission.trust();
          return directory;
        }
      }
      const next = `"palimpsest trust --workspace ${directory}" allows it`;
      throw new Failure("untrusted", `You haven't said that agents may work in ${directory}: ${next}.`);
    }
  }
}
