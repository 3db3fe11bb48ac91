/** The lab over HTTP: what several policies would have done with a transcript, or with a thread of the caller's. */
import type { LabRow, Moment } from "@palimpsest/lab";
import { replay } from "palimpsest/internal/threads";
import { z } from "zod";
import { EventStream, eventText } from "../http/event-stream.ts";
import { ProblemError, problemOf } from "../http/problem.ts";
import { type Call, flag, list, type Route, route, whole } from "../http/route.ts";
import type { LabAnswer, LabProgress, LabRequest } from "../lab/play.ts";
import { playApart } from "../lab/play-apart.ts";
import { ownThread } from "./own-thread.ts";

export const labRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/api/lab",
    summary:
      "Replay a file's text, a zip archive of such files, or a thread with ?thread=, under several policies: cost, knowledge, validity",
    access: "user",
    takes: "sessions",
    query: z.strictObject({
      thread: z.string().max(200).optional().describe("A thread of the caller's instead of a body."),
      window: whole(1000).optional().describe("The model's window in tokens; 200000 unless told."),
      limit: whole(1, 100).optional().describe("Hits of a search that count as found."),
      stream: flag
        .optional()
        .describe("As server-sent events: how far it is, then the report with the size of each request for the plots."),
    }),
    body: z.instanceof(Buffer).describe("A file that `import` reads; empty with ?thread=."),
    streams: "also",
    answer: z.strictObject({
      window: z.int(),
      hits: z.int(),
      transcripts: list(z.looseObject({ name: z.string(), messages: z.int() })),
      policies: list(z.looseObject({ name: z.string(), cost: z.number() })),
      problems: list(z.string()),
    }),
    async handle(call) {
      const { thread, window = 200_000, limit: hits, stream = false } = call.query;
      const file = thread === undefined ? call.body : await textOf(call, thread);
      const request = { name: thread ?? "transcript", file, window, hits };
      if (stream) return streamed(request);
      return documentOf(await playApart(request, { signal: call.signal }));
    },
  }),
];

/** Who leaves stops it. */
function streamed(request: LabRequest): EventStream {
  const leaving = new AbortController();
  return new EventStream(eventsOf(request, leaving.signal), { onLeave: () => leaving.abort() });
}

async function* eventsOf(request: LabRequest, signal: AbortSignal): AsyncGenerator<string> {
  const queue: LabProgress[] = [];
  let wake = (): void => {};
  const playing = playApart(request, {
    signal,
    onProgress(progress) {
      queue.push(progress);
      wake();
    },
  });
  const settled = playing.then(
    () => "settled" as const,
    () => "settled" as const,
  );
  for (let isOver = false; !isOver; ) {
    const { promise: woken, resolve } = Promise.withResolvers<"woken">();
    wake = () => resolve("woken");
    for (const progress of queue.splice(0)) yield eventText(JSON.stringify({ type: "lab-progress", ...progress }));
    isOver = (await Promise.race([woken, settled])) === "settled";
  }
  try {
    const answer = await playing;
    const plots = answer.kind === "played" ? answer.report.policies.map(plotOf) : [];
    yield eventText(JSON.stringify({ type: "lab-report", ...documentOf(answer), plots }));
  } catch (error) {
    const { code, message } = problemOf(error);
    yield eventText(JSON.stringify({ error: { code, message } }), { name: "error" });
  }
}

function documentOf(answer: LabAnswer) {
  if (answer.kind === "nothing")
    throw new ProblemError(422, "no-transcript", `there is nothing to play: ${answer.problems.join("; ")}`);
  const { policies, transcripts, ...rest } = answer.report;
  return {
    ...rest,
    transcripts: transcripts.map((one) => ({ ...one })),
    policies: policies.map(({ timelines: _, ...row }) => row),
    problems: answer.problems,
  };
}

/** Of the longest transcript, which is the one that is drawn; a plot shows no more points than these. */
function plotOf({ timelines }: LabRow): Moment[] {
  const timeline = timelines.reduce((best, one) => (one.length > best.length ? one : best), []);
  const step = Math.max(1, Math.floor(timeline.length / MOST_POINTS));
  return timeline.filter((_, index) => index % step === 0);
}

const MOST_POINTS = 300;

async function textOf({ home, body }: Pick<Call<never, Buffer>, "home" | "body">, threadId: string): Promise<string> {
  if (body.length > 0) throw new ProblemError(400, "invalid", "query.thread: a body came as well: send one of the two");
  const id = await ownThread({ params: { id: threadId }, home });
  let text = "";
  for await (const { body: message } of replay(home, id)) text += `${message}\n`;
  return text;
}
