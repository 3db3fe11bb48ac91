/** The lab over HTTP: what several policies would have done with a transcript, or with a thread of the caller's. */
import { replay } from "palimpsest/threads";
import { z } from "zod";
import { ProblemError } from "../http/problem.ts";
import { type Call, type Route, route } from "../http/route.ts";
import { list, whole } from "../http/schemas.ts";
import { playApart } from "../lab/play-apart.ts";
import { ownThread } from "./own-thread.ts";

export const labRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/api/lab",
    summary: "Replay a file's text, or a thread with ?thread=, under several policies: cost, knowledge, validity",
    access: "user",
    takes: "text",
    query: z.strictObject({
      thread: z.string().max(200).optional().describe("A thread of the caller's instead of a body."),
      window: whole(1000).optional().describe("The model's window in tokens; 200000 unless told."),
      limit: whole(1, 100).optional().describe("Hits of a search that count as found."),
    }),
    body: z.string().describe("A file that `import` reads; empty with ?thread=."),
    answer: z.strictObject({
      window: z.int(),
      hits: z.int(),
      transcripts: list(z.looseObject({ name: z.string(), messages: z.int() })),
      policies: list(z.looseObject({ name: z.string(), cost: z.number() })),
      problems: list(z.string()),
    }),
    async handle(call) {
      const { thread, window = 200_000, limit: hits } = call.query;
      const text = thread === undefined ? call.body : await textOf(call, thread);
      const name = thread ?? "transcript";
      const answer = await playApart({ name, text, window, ...(hits !== undefined && { hits }) }, call.signal);
      if (answer.kind === "nothing")
        throw new ProblemError(422, "no-transcript", `there is nothing to play: ${answer.problems.join("; ")}`);
      const { policies, transcripts, ...rest } = answer.report;
      return {
        ...rest,
        transcripts: transcripts.map((one) => ({ ...one })),
        policies: policies.map(({ timelines: _, ...row }) => row),
        problems: answer.problems,
      };
    },
  }),
];

async function textOf({ home, body }: Pick<Call<never, string>, "home" | "body">, threadId: string): Promise<string> {
  if (body !== "") throw new ProblemError(400, "invalid", "query.thread: a body came as well: send one of the two");
  const id = await ownThread({ params: { id: threadId }, home });
  let text = "";
  for await (const { body: message } of replay(home, id)) text += `${message}\n`;
  return text;
}
