/** What a run tells. The agent's own events are the client's; those of its features are what a gateway's agents have. */
import type { FollowedRun } from "palimpsest/client";

type OwnEvent = FollowedRun extends AsyncIterable<infer Event> ? Event : never;

interface ChildFacts {
  /** The sub-agent's own thread. */
  readonly threadId: string;
  /** The call that asked for it. */
  readonly callId: string;
  readonly agent: string;
}

type FeatureEvent =
  | (ChildFacts & { readonly type: "subagent-start"; readonly description: string })
  | (ChildFacts & { readonly type: "subagent-event"; readonly event: OwnEvent })
  | (ChildFacts & { readonly type: "subagent-end"; readonly status: string })
  | { readonly type: "question-ask"; readonly question: string; readonly options: readonly string[] };

export type PageAgentEvent = OwnEvent | FeatureEvent;
