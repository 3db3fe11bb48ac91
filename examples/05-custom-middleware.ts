// A middleware adds to every run: here it tells the model the house rules, refuses a tool and tells of it by an event.
import { tool } from "ai";
import type { Middleware } from "palimpsest";
import { createDeepAgent } from "palimpsest";
import { offlineModel } from "palimpsest/models";
import { z } from "zod";

declare module "palimpsest" {
  interface FeatureEvents {
    houseRules: { readonly type: "paper-refuse"; readonly data: { readonly callId: string } };
  }
}

function houseRules(): Middleware {
  let calls = 0;
  return {
    name: "house-rules",
    prompt: () => [{ slot: "instructions", text: "Never read what is marked private." }],
    async wrapTool(call, next, run) {
      const isPrivate = JSON.stringify(call.input).includes("private");
      if (isPrivate) run.emit({ type: "paper-refuse", data: { callId: call.id } });
      // What is thrown here becomes the call's error result; the model reads it and the run goes on.
      if (isPrivate) throw new Error("that is private, ask for something else");
      return next(call);
    },
    afterModel: () => void calls++,
    afterAgent: (run, end) => console.log(`${run.threadId}: ${end.kind} after ${calls} model calls`),
  };
}

const read_file = tool({
  description: "Reads a paper.",
  inputSchema: z.object({ path: z.string() }),
  execute: ({ path }) => `${path}: nothing special`,
});
const agent = createDeepAgent({ model: offlineModel(), tools: { read_file }, middleware: [houseRules()] });
for (const prompt of ["read letters/public.txt", "read letters/private.txt"])
  console.log((await agent.generate({ threadId: "t", prompt })).text);
await agent.close();
