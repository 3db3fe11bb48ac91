/** Made by `npm run client-routes` from the gateway's table of routes. */
export interface ThreadViewsRoutes {
  /** The records of the log, in order. */
  "GET /api/threads/{id}/records": {
    readonly params: {
      readonly id: string;
    };
    readonly query?: {
      readonly limit?: string | number;
      readonly after?: string | number;
      readonly kind?: "message";
    };
    readonly answer: {
      readonly thread: string;
      readonly records: readonly {
        readonly seq: number;
        readonly kind: string;
        readonly [name: string]: unknown;
      }[];
      readonly hidden: {
        readonly through: number;
        readonly by: number;
      } | null;
      readonly next: string | null;
    };
  };
  /** What fills the window, part by part. */
  "GET /api/threads/{id}/context": {
    readonly params: {
      readonly id: string;
    };
    readonly query?: {
      readonly window?: string | number;
    };
    readonly answer: {
      readonly thread: string;
      readonly window: number;
      readonly windowAssumed?: true;
      readonly total: number;
      readonly source: string;
      readonly parts: {
        readonly [name: string]: number;
      };
      readonly groups: readonly unknown[];
      readonly simulated: boolean;
      readonly cost?: unknown;
      readonly damage?: unknown;
    };
  };
  /** The exact request that the answer at a record, or the next one, was given to. */
  "GET /api/threads/{id}/requests/{seq}": {
    readonly params: {
      readonly id: string;
      readonly seq: string;
    };
    readonly answer: {
      readonly thread: string;
      readonly answer: number;
      readonly system: unknown;
      readonly messages: readonly unknown[];
      readonly tools: readonly unknown[];
      readonly parameters: unknown;
    };
  };
  /** Find what was ever said in a thread. */
  "GET /api/threads/{id}/search": {
    readonly params: {
      readonly id: string;
    };
    readonly query: {
      readonly q: string | number;
      readonly limit?: string | number;
    };
    readonly answer: {
      readonly hits: readonly {
        readonly thread?: string;
        readonly seq: number;
        readonly score: number;
        readonly at: string;
        readonly role: string;
        readonly speaker: string;
        readonly snippet: string;
        readonly marks: readonly unknown[];
      }[];
      readonly reason?: string;
      readonly unindexed?: number;
      readonly building?: {
        readonly indexed: number;
        readonly records: number;
      };
    };
  };
  /** The tokens of every request, and each act on the thread as a mark. */
  "GET /api/threads/{id}/timeline": {
    readonly params: {
      readonly id: string;
    };
    readonly answer: {
      readonly thread: string;
      readonly requests: readonly {
        readonly seq: number;
        readonly at: string;
        readonly model: string;
        readonly input: number;
        readonly window: number | null;
        readonly cost: number | null;
        readonly [name: string]: unknown;
      }[];
      readonly marks: readonly {
        readonly seq: number;
        readonly at: string;
        readonly kind: string;
        readonly [name: string]: unknown;
      }[];
    };
  };
  /** What would be sent to the model now. */
  "GET /api/threads/{id}/view": {
    readonly params: {
      readonly id: string;
    };
    readonly query?: {
      readonly window?: string | number;
    };
    readonly answer: {
      readonly thread: string;
      readonly dialect: string;
      readonly tokens: number;
      readonly source: string;
      readonly simulated: boolean;
      readonly system: unknown;
      readonly tools: readonly unknown[];
      readonly repairs: readonly unknown[];
      readonly messages: readonly unknown[];
      readonly sources: readonly unknown[];
      readonly damage?: unknown;
    };
  };
  /** Messages of the log as a person reads them, whatever their format; long texts are cut. */
  "GET /api/threads/{id}/lines": {
    readonly params: {
      readonly id: string;
    };
    readonly query?: {
      readonly from?: string | number;
      readonly limit?: string | number;
      readonly seqs?: string | number;
      readonly length?: string | number;
    };
    readonly answer: {
      readonly thread: string;
      readonly lines: readonly {
        readonly seq: number;
        readonly at: string;
        readonly role: "system" | "user" | "assistant" | "tool";
        readonly origin: string;
        readonly parts: readonly {
          readonly kind: string;
          readonly text: string;
          readonly length: number;
          readonly name?: string;
          readonly id?: string;
          readonly isError?: true;
        }[];
      }[];
      readonly next: number | null;
    };
  };
  /** What stands in the window, entry by entry with its tokens and why, now or at a past record. */
  "GET /api/threads/{id}/window": {
    readonly params: {
      readonly id: string;
    };
    readonly query?: {
      readonly at?: string | number;
      readonly window?: string | number;
    };
    readonly answer: {
      readonly thread: string;
      readonly title: string | null;
      readonly at: number;
      readonly messages: number;
      readonly window: number;
      readonly total: number;
      readonly source: string;
      readonly parts: {
        readonly [name: string]: number;
      };
      readonly groups: readonly unknown[];
      readonly entries: readonly {
        readonly seq: number | null;
        readonly source: "system" | "rules" | "summary" | "acknowledgement" | "request" | "fold" | "message";
        readonly role: "system" | "user" | "assistant" | "tool";
        readonly tokens: number;
        readonly evidence?: number;
        readonly shortened?: readonly string[];
        readonly pinned?: true;
      }[];
      readonly compaction: {
        readonly seq: number;
        readonly at: string;
        readonly rung: string;
        readonly reason: string;
        readonly tokensBefore: number;
        readonly tokensAfter: number;
        readonly covers: readonly number[];
        readonly hiddenThrough: number;
        readonly text: string;
      } | null;
      readonly repairs: number;
      readonly pins: readonly number[];
      readonly undo: number | null;
      readonly redo: number | null;
    };
  };
}
