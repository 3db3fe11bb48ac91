/** Calls that wait for a person's word. They are a state of the thread, so any process may answer them, also years later. */
import { z } from "zod";
import { ProblemError } from "../http/problem.ts";
import { type Route, route } from "../http/route.ts";
import { list, thread } from "../http/schemas.ts";
import type { Agents } from "../runs/agents.ts";
import { busy, missing, ownThread } from "./own-thread.ts";

const callId = z.string().max(1000).describe("A call's id.");

export function approvalRoutes(agents: Agents): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/threads/{id}/approvals",
      summary: "The calls that wait for approval, with their arguments and what was answered so far",
      access: "user",
      answer: z.strictObject({
        thread,
        approvals: list(
          z.strictObject({
            id: callId,
            name: z.string(),
            input: z.unknown(),
            answer: z.enum(["yes", "no"]).nullable(),
            reason: z.string().nullable(),
          }),
        ),
      }),
      async handle(call) {
        const id = await ownThread(call);
        const { agent } = await agents.get(null);
        return { thread: id, approvals: await agent.thread(id, { userId: call.home.userId }).approvals() };
      },
    }),
    route({
      method: "POST",
      path: "/api/threads/{id}/approve",
      summary: "Answer a call that waits; the next run without a new message acts on it",
      access: "user",
      body: z.strictObject({
        call: callId,
        answer: z.enum(["yes", "no"]),
        reason: z.string().max(10_000).optional().describe("Of a refusal: the model reads it."),
      }),
      answer: z.strictObject({ thread, call: callId, answer: z.enum(["yes", "no"]), open: list(callId) }),
      async handle(request) {
        const id = await ownThread(request);
        const { call, answer, reason } = request.body;
        const { agent } = await agents.get(null);
        const approved = await agent.thread(id, { userId: request.home.userId }).approve(call, answer, reason);
        switch (approved.kind) {
          case "recorded":
            return { thread: id, call, answer, open: approved.open };
          case "not-pending":
            throw new ProblemError(422, "not-pending", `no call ${JSON.stringify(call)} waits for approval`);
          case "missing":
            throw missing(id);
          default:
            throw busy(id);
        }
      },
    }),
  ];
}
