/** Made by `npm run client-routes` from the gateway's table of routes. */
export interface ThreadActsRoutes {
  /** Hide the older part of a thread behind a summary; a dry run writes nothing. */
  "POST /api/threads/{id}/compact": {
    readonly params: {
      readonly id: string;
    };
    readonly body?: {
      readonly dryRun?: boolean;
      readonly focus?: string;
      readonly window?: number;
    };
    readonly answer: {
      readonly thread: string;
      readonly kind: "compacted" | "unchanged";
      readonly dryRun?: true;
      readonly [name: string]: unknown;
    };
  };
  /** Make a thread that shares this one's records up to a seq. */
  "POST /api/threads/{id}/fork": {
    readonly params: {
      readonly id: string;
    };
    readonly body?: {
      readonly at?: number;
      readonly as?: string;
    };
    readonly answer: {
      readonly thread: string;
      readonly parent: string;
      readonly at: number;
    };
  };
  /** Pin a message, so that every summary quotes it word for word. */
  "POST /api/threads/{id}/pin": {
    readonly params: {
      readonly id: string;
    };
    readonly body: {
      readonly seq: number;
      readonly on?: boolean;
    };
    readonly answer: {
      readonly thread: string;
      readonly pinned: number;
      readonly on: boolean;
    };
  };
  /** Erase a message's text for good, with what was made of it. */
  "POST /api/threads/{id}/redact": {
    readonly params: {
      readonly id: string;
    };
    readonly body: {
      readonly seq: number;
    };
    readonly answer: {
      readonly thread: string;
      readonly redacted: number;
      readonly before?: true;
      readonly bodies: unknown;
      readonly threads: readonly string[];
      readonly lentTo: readonly string[];
      readonly facts: readonly string[];
      readonly shownIn: readonly string[];
      readonly copies: readonly string[];
      readonly summaries: {
        readonly rebuilt: number;
        readonly erased: number;
      };
      readonly busy: readonly string[];
      readonly left: string | null;
    };
  };
  /** Take back the newest undo. */
  "POST /api/threads/{id}/redo": {
    readonly params: {
      readonly id: string;
    };
    readonly body?: Record<string, never>;
    readonly answer: {
      readonly thread: string;
      readonly undone?: number;
      readonly redone?: number;
      readonly seq: number;
      readonly dependents?: readonly number[];
    };
  };
  /** Take back the newest compaction or prune, or the one at a record. */
  "POST /api/threads/{id}/undo": {
    readonly params: {
      readonly id: string;
    };
    readonly body?: {
      readonly seq?: number;
    };
    readonly answer: {
      readonly thread: string;
      readonly undone?: number;
      readonly redone?: number;
      readonly seq: number;
      readonly dependents?: readonly number[];
    };
  };
  /** Check the thread's hash chain, record by record. */
  "POST /api/threads/{id}/verify": {
    readonly params: {
      readonly id: string;
    };
    readonly body?: Record<string, never>;
    readonly answer: {
      readonly ok: boolean;
      readonly records: number;
      readonly redacted: readonly number[];
      readonly firstBad?: unknown;
    };
  };
  /** Let the agent work on a thread, which is made where it is missing; as JSON at the end, or as events. */
  "POST /api/threads/{id}/runs": {
    readonly params: {
      readonly id: string;
    };
    readonly body?: {
      readonly prompt?: string;
      readonly messages?: readonly {
        readonly role: string;
        readonly [name: string]: unknown;
      }[];
      readonly model?: string;
      readonly stream?: boolean;
      readonly multitask?: "reject" | "wait" | "fork";
      readonly on_disconnect?: "cancel" | "continue";
    };
    readonly answer: {
      readonly run: string;
      readonly thread: string;
      readonly text: string;
      readonly usage: {
        readonly input: number;
        readonly output: number;
        readonly cacheRead: number;
        readonly cacheWrite: number;
      };
      readonly steps: number;
      readonly end: string;
      readonly question?: string;
      readonly options?: readonly string[];
      readonly calls?: readonly {
        readonly id: string;
        readonly name: string;
        readonly input: unknown;
      }[];
      readonly clientCalls?: readonly {
        readonly id: string;
        readonly name: string;
        readonly input: unknown;
      }[];
      readonly spent?: {
        readonly tokens: number;
        readonly cost: number | null;
      };
      readonly limit?: number;
      readonly cost?: {
        readonly spent: number;
        readonly [name: string]: unknown;
      };
    };
  };
  /** The calls that wait for approval, with their arguments and what was answered so far. */
  "GET /api/threads/{id}/approvals": {
    readonly params: {
      readonly id: string;
    };
    readonly answer: {
      readonly thread: string;
      readonly approvals: readonly {
        readonly id: string;
        readonly name: string;
        readonly input: unknown;
        readonly answer: ("yes" | "no") | null;
        readonly reason: string | null;
      }[];
    };
  };
  /** Answer a call that waits; the next run without a new message acts on it. */
  "POST /api/threads/{id}/approve": {
    readonly params: {
      readonly id: string;
    };
    readonly body: {
      readonly call: string;
      readonly answer: "yes" | "no";
      readonly reason?: string;
    };
    readonly answer: {
      readonly thread: string;
      readonly call: string;
      readonly answer: "yes" | "no";
      readonly open: readonly string[];
    };
  };
}
