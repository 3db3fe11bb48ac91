import type { Context } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { readStdin } from "../home/stdin.ts";

/** PROMPT, what comes through a pipe, or with "-" behind it both. */
export async function promptOf([given, rest]: readonly string[], { signal }: Pick<Context, "signal">): Promise<string> {
  if (rest !== undefined && rest !== "-")
    throw new UsageError(`"${rest}" is one argument too many; put words that belong together in quotes.`);
  const isPiped = given === "-" || rest === "-" || (given === undefined && process.stdin.isTTY !== true);
  const argument = given === "-" ? "" : (given ?? "");
  const prompt = [argument, ...(isPiped ? [(await readStdin(signal)).toString("utf8")] : [])]
    .filter((text) => text.trim() !== "")
    .join("\n\n");
  if (prompt === "") throw new UsageError("PROMPT is empty: say what the agent should do, or pipe it in.");
  return prompt;
}
