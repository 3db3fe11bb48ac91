/**
 * Plays the demo's conversation through the real agent and notes, beside the store, what was said and done. Prints
 * nothing.
 */
import type { Agent, AgentEvent } from "palimpsest/agent";

type Compacted = Extract<Extract<AgentEvent, { type: "compaction-end" }>["outcome"], { kind: "compacted" }>;

interface CompactionSeen extends Omit<Compacted, "messages"> {
  readonly turn: number;
}

export interface Played {
  /** The user's words and the agent's, in order, as they were heard. */
  readonly heard: string[];
  readonly compactions: CompactionSeen[];
  toolCalls: number;
  modelCalls: number;
  /** The largest prompt that the model reported, in tokens. */
  largest: number;
}

export interface Turn {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown; readonly ms: number }[];
}

export interface Player {
  readonly played: Played;
  say(prompt: string): Promise<Turn>;
}

export interface PlayerOptions {
  readonly threadId: string;
  readonly signal: AbortSignal;
}

export function createPlayer(agent: Agent, { threadId, signal }: PlayerOptions): Player {
  const played: Played = { heard: [], compactions: [], toolCalls: 0, modelCalls: 0, largest: 0 };
  let turn = 0;
  const note = (event: AgentEvent): void => {
    if (event.type === "step-end") {
      played.modelCalls += 1;
      played.largest = Math.max(played.largest, event.usage?.input ?? 0);
    }
    if (event.type !== "compaction-end" || event.outcome.kind !== "compacted") return;
    const { messages: _, ...outcome } = event.outcome;
    played.compactions.push({ ...outcome, turn });
  };
  return {
    played,
    async say(prompt) {
      turn += 1;
      played.heard.push(prompt);
      const inputs = new Map<string, unknown>();
      const calls: { name: string; input: unknown; ms: number }[] = [];
      const stream = agent.stream({ threadId, prompt, signal });
      for await (const event of stream) {
        note(event);
        if (event.type === "tool-start") inputs.set(event.callId, event.input);
        if (event.type === "tool-end")
          calls.push({ name: event.name, input: inputs.get(event.callId), ms: Math.round(event.ms) });
      }
      const { end, text } = await stream.result;
      signal.throwIfAborted();
      if (end.kind !== "answered") throw new Error(`turn ${turn} ended as ${JSON.stringify(end)}`);
      played.toolCalls += calls.length;
      played.heard.push(text);
      return { text, calls };
    },
  };
}
