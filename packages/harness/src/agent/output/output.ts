/**
 * An answer as data: the schema a run asks for, told to the model, and its last answer read by it. An answer that doesn't
 * fit is sent back once, with what is wrong; a second one ends the run.
 */
import { asSchema, type FlexibleSchema, NoObjectGeneratedError, Output } from "ai";
import { AgentError, messageOf } from "../errors.ts";
import type { Run } from "../run.ts";

/** A schema (zod or JSON schema) of the object to answer with, or one of the AI SDK's `Output.object`, `array`, `choice`, `json`. */
export type OutputSpec<O> = FlexibleSchema<O> | Output.Output<O>;

export type ResponseFormat = Awaited<Output.Output["responseFormat"]>;

/** Of one run. */
export interface OutputReader {
  readonly format: ResponseFormat;
  /** Null: the model is asked once more; the request is in the log by then. */
  read(
    answer: { readonly text: string; readonly finish: string },
    run: Run,
  ): Promise<{ readonly value: unknown } | null>;
}

export async function outputReader(given: OutputSpec<unknown> | undefined): Promise<OutputReader | null> {
  if (given === undefined) return null;
  const spec = isSpec(given) ? given : Output.object({ schema: asSchema(given) });
  const format = await spec.responseFormat;
  let repaired = false;
  return {
    format,
    async read({ text, finish }, run) {
      const result = await parse(spec, text, finish);
      if ("value" in result) return result;
      if (repaired) {
        const detail = `the answer does not fit the schema that was asked for, also at the second try: ${result.problem}`;
        throw new AgentError("bad-output", detail);
      }
      repaired = true;
      run.emit({ type: "output-repair", problem: result.problem });
      await run.say({ role: "user", content: repairRequest(result.problem, format) }, "injected");
      return null;
    },
  };
}

function isSpec(given: OutputSpec<unknown>): given is Output.Output {
  return typeof given === "object" && given !== null && "parseCompleteOutput" in given;
}

async function parse(spec: Output.Output, text: string, finish: string) {
  const first = await attempt(spec, text, finish);
  const inner = insideFence(text);
  if ("value" in first || inner === null) return first;
  return attempt(spec, inner, finish);
}

/** Models wrap JSON in a code block, asked or not. */
function insideFence(text: string): string | null {
  const lines = text.trim().split("\n");
  const opening = lines[0]!.trim();
  if (opening !== "```" && opening !== "```json") return null;
  return lines.length > 1 && lines.at(-1)!.trim() === "```" ? lines.slice(1, -1).join("\n") : null;
}

async function attempt(
  spec: Output.Output,
  text: string,
  finish: string,
): Promise<{ readonly value: unknown } | { readonly problem: string }> {
  try {
    const context = { response: {}, usage: {}, finishReason: finish } as never;
    return { value: await spec.parseCompleteOutput({ text }, context) };
  } catch (error) {
    if (!NoObjectGeneratedError.isInstance(error)) throw error;
    return { problem: error.cause === undefined ? error.message : messageOf(error.cause) };
  }
}

/** With the schema, for models whose provider doesn't tell them. */
function repairRequest(problem: string, format: ResponseFormat): string {
  const schema = format?.type === "json" && format.schema !== undefined ? JSON.stringify(format.schema) : null;
  return [
    `Your last answer can't be read as the data that was asked for: ${problem.slice(0, MOST_PROBLEM)}`,
    "Answer again with nothing but the JSON, without a code block around it.",
    ...(schema === null ? [] : [`The JSON schema: ${schema}`]),
  ].join("\n");
}

const MOST_PROBLEM = 2_000;
