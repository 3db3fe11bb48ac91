/** Rivals that make prompts: opencode's rule, and LangChain's and DeepAgents' own middleware. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OpenAiMessage, openaiShape } from "@palimpsest/core/internal/message";
import type { Policy, View } from "@palimpsest/lab";
import type { NamedSender } from "@palimpsest/lab/internal/eval";
import { groupStart } from "../../packages/lab/src/replay/summarize.ts";
import { fakeSummarizer } from "../playback/fake-summarizer.ts";
import type { LangChainMiddleware, Player, PlayerOptions } from "../playback/langchain.ts";
import { richSummarizer } from "./prompts-rich.ts";

/** opencode's documented rule, with its token figures scaled from 200,000 to the window. */
export function opencodeRule(window: number): Policy {
  const scale = Math.min(1, window / 200_000);
  const [protect, minimum, answer] = [40_000 * scale, 20_000 * scale, 32_000 * scale];
  return {
    name: "opencode's rule, scaled",
    prepare(view, { meter }) {
      const sizes = view.map(({ message }) => meter.message(message));
      const total = sizes.reduce((sum, size) => sum + size, 0);
      if (total < window - answer) return { view, calls: [] };
      const masked = maskResults(view, sizes, protect);
      const freed = total - meter.messages(masked.map(({ message }) => message));
      if (freed >= minimum && total - freed < window - answer) return { view: masked, calls: [] };
      // Everything is summarized; the last request stays.
      const request = Math.max(
        0,
        view.findLastIndex(({ message }) => message.role === "user"),
      );
      const cut = groupStart(view, Math.max(request, view.length - 2));
      const systems = view.slice(0, cut).filter(({ message }) => message.role === "system");
      const text = `Summary of the conversation so far.\n${requestsIn(view.slice(0, cut))}`;
      const summary = {
        source: "summary" as const,
        seq: null,
        message: openaiShape.turn("user", text),
        addition: null,
      };
      return {
        view: [...systems, summary, ...view.slice(cut)],
        calls: [{ input: total, cached: total, output: 1500 }],
      };
    },
  };
}

function requestsIn(view: View): string {
  const said = view.flatMap(({ message: { role, content } }) =>
    role === "user" && typeof content === "string" ? [content.slice(0, 200)] : [],
  );
  return said.slice(-20).join("\n");
}

const MASK = "[Old tool result content cleared]";

function maskResults(view: View, sizes: readonly number[], protect: number): View {
  let kept = 0;
  const old = new Set<number>();
  for (let index = view.length - 1; index >= 0; index--) {
    if (view[index]!.message.role !== "tool" || view[index]!.message.content === MASK) continue;
    kept += sizes[index]!;
    if (kept > protect) old.add(index);
  }
  return view.map((entry, index) =>
    old.has(index) ? { ...entry, message: { ...entry.message, content: MASK } as OpenAiMessage } : entry,
  );
}

type Build = (peer: LangChainMiddleware, options: PlayerOptions) => Player;

/** `rich`: the stand-in for a model writes the user's words and the most used names, which is what the judge asks for. */
export function byMiddleware(
  name: string,
  peer: LangChainMiddleware,
  build: Build,
  summarizer: "extract" | "rich",
): NamedSender {
  return {
    name,
    async open({ window, count, meter, systems }) {
      const folder = mkdtempSync(join(tmpdir(), "palimpsest-peer-"));
      const limit = window;
      const said: OpenAiMessage[] = [];
      const model =
        summarizer === "rich" ? richSummarizer({ limit, count, said }) : fakeSummarizer("extractive", { limit, count });
      const options = {
        model,
        limit,
        systems,
        folder,
        count: (sent: readonly OpenAiMessage[]) => meter.messages(sent),
      };
      const player = build(peer, options);
      return {
        async say(message) {
          said.push(message);
          if (message.role !== "system") player.say(message);
        },
        async request() {
          let last: readonly OpenAiMessage[] = [];
          const calls = model.calls;
          try {
            await player.request((sent) => {
              last = [...systems, ...sent];
              return meter.messages(last) <= limit ? "accepted" : "too long";
            });
          } catch {
            return null;
          }
          const compacted = model.calls > calls;
          const input = compacted ? count(model.seen) : 0;
          return { messages: last, compacted, marks: null, calls: compacted ? [{ input, output: 1500 }] : [] };
        },
        close: async () => rmSync(folder, { recursive: true }),
      };
    },
  };
}
