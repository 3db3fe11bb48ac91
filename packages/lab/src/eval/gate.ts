/** A gate: bounds for figures, by name. A change learns of each figure that it made worse than allowed. */
import { jsonOr } from "@palimpsest/core/internal/message";
import { z } from "zod";

const bound = z
  .strictObject({ min: z.number().optional(), max: z.number().optional() })
  .refine(({ min, max }) => min !== undefined || max !== undefined, "give min, max or both");

const gateSchema = z.record(z.string(), bound);

const EXAMPLE = '{"NAME OF A FIGURE": {"min": 0.5}}, names as --json lists them under "figures"';

export type EvalGate = Readonly<
  Record<string, { readonly min?: number | undefined; readonly max?: number | undefined }>
>;

/** By name; null where there was nothing to measure. */
export type Figures = Readonly<Record<string, number | null>>;

export type ParsedGate =
  | { readonly kind: "gate"; readonly gate: EvalGate }
  | { readonly kind: "invalid"; readonly problem: string };

export function parseGate(text: string): ParsedGate {
  const value = jsonOr(text, undefined);
  if (value === undefined) return { kind: "invalid", problem: "it is no JSON" };
  const { success, data, error } = gateSchema.safeParse(value);
  if (!success) {
    const { path, message } = error.issues[0]!;
    const where = path.length === 0 ? "" : `${path.map((key) => JSON.stringify(key)).join(" ")}: `;
    return { kind: "invalid", problem: `${where}${message}; a gate is ${EXAMPLE}` };
  }
  if (Object.keys(data).length === 0) return { kind: "invalid", problem: "it names no figure" };
  return { kind: "gate", gate: data };
}

/** One sentence for each figure that is out of its bounds or wasn't measured. */
export function gateFailures(gate: EvalGate, figures: Figures): string[] {
  return Object.entries(gate).flatMap(([name, { min, max }]) => {
    const value = Object.hasOwn(figures, name) ? figures[name]! : null;
    if (value === null) return [`${name}: not measured; --json lists the names of all figures under "figures".`];
    if (min !== undefined && value < min) return [`${name}: ${value} is below ${min}.`];
    if (max !== undefined && value > max) return [`${name}: ${value} is above ${max}.`];
    return [];
  });
}
