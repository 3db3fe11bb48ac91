/** A thread as a person reads it, with the run that is under way on it. Nothing is written. */
import { transcriptDocument } from "palimpsest/internal/documents";
import { z } from "zod";
import { type Route, route } from "../http/route.ts";
import { flag, list, thread, whole } from "../http/schemas.ts";
import type { Runs } from "../runs/registry.ts";
import { ownThread } from "./own-thread.ts";

const entry = z.looseObject({ seq: z.int(), at: z.string(), kind: z.string() });
const child = z.strictObject({ call: z.string(), agent: z.string(), thread, status: z.string() });

export function transcriptRoutes(runs: Runs): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/threads/{id}/transcript",
      summary: "What was said and done in a thread, in any dialect, the newest page first; long texts are cut",
      access: "user",
      query: z.strictObject({
        before: whole(1).optional().describe("Only what stands before this record: the `before` of the page before."),
        limit: whole(1, 500).optional().describe("How many entries at most; 200 unless told."),
        whole: flag.optional().describe("Texts as they are, however long."),
      }),
      answer: z.strictObject({
        thread,
        entries: list(entry),
        before: z.int().nullable().describe("Of the next page, which is older; null: this is the first."),
        children: list(child).describe("Sub-agents that were started here, by the call that did it."),
        run: z.string().nullable().describe("The run under way; null: none is."),
      }),
      async handle(call) {
        const id = await ownThread(call);
        const { before, limit = ENTRIES, whole: texts } = call.query;
        const { home } = call;
        const query = { before, limit, texts: texts === true ? "whole" : "cut" } as const;
        const document = await transcriptDocument(home.store, id, query);
        const run = runs.on(home.userId, id) ?? (await runs.elsewhere(home.userId, id));
        return { ...document, run: run?.facts.id ?? null };
      },
    }),
  ];
}

const ENTRIES = 200;
