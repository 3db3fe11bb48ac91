/**
 * Whether what a question asks for stands in the request that is really sent: in the first one, and after one call of `recall`. An
 * agent of ours is asked, with memory on and a model that follows a script.
 */

import { scriptedModel } from "@palimpsest/testing";
import { createDeepAgent, createMemory } from "palimpsest";
import { createThread, fork, withWriter } from "palimpsest/internal/threads";
import { appendMessages, threadDeps } from "palimpsest/session";
import { openSqlite } from "palimpsest/stores";
import type { ExactHistory } from "./question-data.ts";

export interface RequestScore {
  readonly place: string;
  readonly kind: string;
  readonly inRequest: boolean;
  readonly afterRecall: boolean;
  readonly tokens: number;
}

export async function askHistory(place: AskingPlace, history: ExactHistory, window: number): Promise<RequestScore[]> {
  const asking = await place.open(history, window);
  const scores: RequestScore[] = [];
  try {
    for (const { kind, text, values } of history.questions) {
      const { request, withRecall, tokens } = await asking.ask(text);
      const holds = (body: string): boolean => values.every((value) => body.includes(value));
      scores.push({ place: place.name, kind, inRequest: holds(request), afterRecall: holds(withRecall), tokens });
    }
  } finally {
    await asking.close();
  }
  return scores;
}

/** Where a question can be asked. */
export interface AskingPlace {
  readonly name: string;
  open(history: ExactHistory, window: number): Promise<EvalAsking>;
}

interface EvalAsking {
  ask(question: string): Promise<AskedFor>;
  close(): Promise<void>;
}

interface AskedFor {
  /** The body of the request that asks, as text. */
  readonly request: string;
  /** The same with what `recall` answers. */
  readonly withRecall: string;
  /** What the model's provider counts for the first. */
  readonly tokens: number;
}

export function overAgent(when: "later" | "at once"): AskingPlace {
  return {
    name: `agent, asked ${when}`,
    async open(history, window) {
      const store = openSqlite({ path: ":memory:" });
      const deps = threadDeps(store);
      await createThread(deps, { id: "history" });
      await withWriter(deps, "history", (writer) =>
        appendMessages(
          writer,
          history.messages.map(({ at, message }) => ({ dialect: "openai", origin: "import", at, body: message })),
        ),
      );
      let answer = (): RequestAnswer => "Noted.";
      const model = scriptedModel(() => answer());
      const learns = scriptedModel(() => "{}");
      const memory = createMemory({ store, model: learns });
      const agent = createDeepAgent({
        store,
        model,
        memory,
        window,
        summarizer: null,
        title: false,
        subagents: false,
      });
      const say = async (threadId: string, prompt: string): Promise<void> => {
        const { end } = await agent.generate({ threadId, prompt });
        if (end.kind !== "answered") throw new Error(`the turn ended as ${end.kind}`);
      };
      if (when === "later") await say("history", "Go on with the next item.");
      let asked = 0;
      return {
        async ask(question) {
          asked += 1;
          const threadId = `asked-${asked}`;
          await fork(deps, "history", { as: threadId });
          const first = model.calls.length;
          answer = () =>
            model.calls.length === first + 1 ? { calls: [{ name: "recall", input: { query: question } }] } : "Done.";
          await say(threadId, question);
          const [request, withRecall] = [model.calls[first]!, model.calls[first + 1]!];
          return {
            request: JSON.stringify(request.prompt),
            withRecall: JSON.stringify(withRecall.prompt),
            tokens: request.inputTokens,
          };
        },
        async close() {
          await agent.close();
          await memory.close(0);
          await store.close();
        },
      };
    },
  };
}

type RequestAnswer = string | { readonly calls: readonly { readonly name: string; readonly input: unknown }[] };
