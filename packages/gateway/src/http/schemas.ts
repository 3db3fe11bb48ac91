/** Pieces that the routes' schemas share. What comes in is strict: a field nobody knows is refused. */
import { z } from "zod";

export const thread = z.string().describe("A thread's id.");

/** Answers are never written to, so their lists are read-only. */
export const list = <T extends z.ZodType>(of: T) => z.array(of).readonly();

/** A number in a query or a path. */
export const whole = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d{1,16}$/, "must be a whole number")
    .transform(Number)
    .pipe(z.int().min(min).max(max));

export const flag = z.enum(["true", "false"]).transform((text) => text === "true");

export const page = {
  limit: whole(1, 500).optional().describe("How many at most; 100 unless told."),
  after: z.string().max(200).optional().describe("The `next` of the page before."),
};

export const PAGE = 100;

export const next = z.string().nullable().describe("Pass as `after` for the next page; null at the end.");

/** A custom agent's name. */
export const agent = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/);

export const noBody = z.strictObject({});
