/** Whose turns are measured, by name. Loaded in a process of its own for each. */
import type { TurnCase } from "./case.ts";
import type { PeerSetting } from "./langchain.ts";
import type { OurSetting } from "./ours.ts";

type Ours = Omit<OurSetting, "store">;

export const OURS = {
  "all in view": { view: "whole" },
  "all in view, with files": { view: "whole", files: "with" },
  "all in view, an agent made anew": { view: "whole", agent: "anew" },
  "all in view, an agent made anew and the thread read again": { view: "whole", agent: "unread" },
  compacted: { view: "compacted" },
  "compacted, with files": { view: "compacted", files: "with" },
  "compacted, an agent made anew": { view: "compacted", agent: "anew" },
} as const satisfies Record<string, Ours>;

export const PEERS = {
  "LangChain createAgent, durability exit": { agent: "plain", durability: "exit", made: "once" },
  "LangChain createAgent": { agent: "plain", durability: "async", made: "once" },
  "LangChain createAgent made anew, durability exit": { agent: "plain", durability: "exit", made: "anew" },
  "LangChain createAgent, summarizing, durability exit": { agent: "summarizing", durability: "exit", made: "once" },
  "LangChain createAgent, summarizing": { agent: "summarizing", durability: "async", made: "once" },
  "DeepAgents createDeepAgent, durability exit": { agent: "deep", durability: "exit", made: "once" },
  "DeepAgents createDeepAgent": { agent: "deep", durability: "async", made: "once" },
} as const satisfies Record<string, PeerSetting>;

export type Built =
  | { readonly kind: "ready"; readonly one: TurnCase }
  | { readonly kind: "missing"; readonly what: string };

export async function buildCase(name: string, store: OurSetting["store"], messages: number): Promise<Built> {
  if (name in OURS) {
    const { ourCase } = await import("./ours.ts");
    return { kind: "ready", one: await ourCase({ store, ...OURS[name as keyof typeof OURS] }, messages) };
  }
  const { loadLangChain, peerCase } = await import("./langchain.ts");
  const loaded = await loadLangChain();
  if (loaded.kind === "missing") return loaded;
  return { kind: "ready", one: await peerCase(loaded.module, PEERS[name as keyof typeof PEERS], messages) };
}
