/** What the commands that talk with the agent share. */
import type { Context } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";

export interface TalkOptions {
  readonly thread?: string;
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
  const next = models.length === 0 ? `; none is configured: "palimpsest config init" does it` : "";
  throw new UsageError(`There is no model "${name}" under models: (there: ${known.join(", ")})${next}.`, {
    word: name,
    known,
  });
}
