/** Made by `npm run client-routes` from the gateway's table of routes. */
export interface CatalogRoutes {
  /** Find what was ever said in any thread of the caller's. */
  "GET /api/search": {
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
  /** The models that are configured, with windows and prices. */
  "GET /api/models": {
    readonly answer: {
      readonly configured: readonly {
        readonly name: string;
        readonly use: string;
        readonly provider: string;
        readonly model: string;
        readonly window: {
          readonly tokens: number;
          readonly source: string;
        };
        readonly prices: unknown;
      }[];
      readonly possible: readonly unknown[];
      readonly pricesAsOf: string;
    };
  };
  /** Switch a skill on or off, for every agent here from its next run on. */
  "PUT /api/skills/{name}": {
    readonly params: {
      readonly name: string;
    };
    readonly body: {
      readonly enabled: boolean;
    };
    readonly answer: {
      readonly name: string;
      readonly description: string;
      readonly enabled: boolean;
    };
  };
  /** The skills an agent here has. */
  "GET /api/skills": {
    readonly answer: {
      readonly skills: readonly {
        readonly name: string;
        readonly description: string;
        readonly enabled: boolean;
      }[];
      readonly skipped: readonly {
        readonly folder: string;
        readonly problem: string;
      }[];
    };
  };
  /** The sub-agents an agent here may start. */
  "GET /api/subagents": {
    readonly answer: {
      readonly subagents: readonly {
        readonly name: string;
        readonly description: string;
        readonly [name: string]: unknown;
      }[];
    };
  };
  /** Make a key. */
  "POST /api/keys": {
    readonly body: {
      readonly user: string;
      readonly role?: "user" | "delegate" | "admin";
      readonly expires?: string;
    };
    readonly answer: {
      readonly key: string;
      readonly id: string;
      readonly user: string;
      readonly role: "user" | "delegate" | "admin";
      readonly expiresAt: string | null;
    };
  };
  /** All keys, without the keys themselves. */
  "GET /api/keys": {
    readonly answer: {
      readonly keys: readonly {
        readonly id: string;
        readonly prefix: string;
        readonly user: string;
        readonly role: "user" | "delegate" | "admin";
        readonly createdAt: string;
        readonly expiresAt: string | null;
        readonly revokedAt: string | null;
      }[];
    };
  };
  /** End a key for good, by its id; it stays listed. */
  "DELETE /api/keys/{key}": {
    readonly params: {
      readonly key: string;
    };
    readonly body?: Record<string, never>;
    readonly answer: {
      readonly id: string;
      readonly revoked: true;
    };
  };
  /** The caller's threads that change from now on, as events: {threads, gone}; the first has those that runs are under way on. */
  "GET /api/changes": {
    readonly answer: string;
  };
  /** Replay a file's text, a zip archive of such files, or a thread with ?thread=, under several policies: cost, knowledge, validity. */
  "POST /api/lab": {
    readonly query?: {
      readonly thread?: string | number;
      readonly window?: string | number;
      readonly limit?: string | number;
      readonly stream?: "true" | "false";
    };
    readonly body: string | Blob;
    readonly answer: {
      readonly window: number;
      readonly hits: number;
      readonly transcripts: readonly {
        readonly name: string;
        readonly messages: number;
        readonly [name: string]: unknown;
      }[];
      readonly policies: readonly {
        readonly name: string;
        readonly cost: number;
        readonly [name: string]: unknown;
      }[];
      readonly problems: readonly string[];
    };
  };
  /** The last requests to the compatible endpoints, newest first; of this process, and only so many. */
  "GET /api/requests": {
    readonly query?: {
      readonly limit?: string | number;
      readonly after?: string | number;
      readonly thread?: string | number;
    };
    readonly answer: {
      readonly requests: readonly {
        readonly id: string;
        readonly at: string;
        readonly ms: number;
        readonly path: string;
        readonly model: string;
        readonly upstreamModel: string;
        readonly provider: string;
        readonly stream: boolean;
        readonly mode: "on" | "observe" | "off";
        readonly client: {
          readonly messages: number;
          readonly bytes: number;
          readonly hash: string | null;
        };
        readonly match: "new" | "extended" | "forked" | "passed";
        readonly thread: string | null;
        readonly seq: number | null;
        readonly view: "verbatim" | "compacted";
        readonly upstream: {
          readonly messages: number;
          readonly bytes: number | null;
          readonly tokens: number;
          readonly source: string;
          readonly whole: number;
        } | null;
        readonly compaction: string | null;
        readonly evidence: number | null;
        readonly status: number;
        readonly end: "answered" | "aborted" | "refused" | "failed" | "passed";
        readonly usage: {
          readonly input: number;
          readonly output: number;
          readonly cacheRead: number;
          readonly cacheWrite: number;
        } | null;
        readonly cacheShare: number | null;
        readonly cost: number | null;
        readonly saved: {
          readonly tokens: number;
          readonly cost: number | null;
        };
        readonly currency: "USD" | null;
      }[];
      readonly next: string | null;
    };
  };
  /** One of them. */
  "GET /api/requests/{request}": {
    readonly params: {
      readonly request: string;
    };
    readonly answer: {
      readonly id: string;
      readonly at: string;
      readonly ms: number;
      readonly path: string;
      readonly model: string;
      readonly upstreamModel: string;
      readonly provider: string;
      readonly stream: boolean;
      readonly mode: "on" | "observe" | "off";
      readonly client: {
        readonly messages: number;
        readonly bytes: number;
        readonly hash: string | null;
      };
      readonly match: "new" | "extended" | "forked" | "passed";
      readonly thread: string | null;
      readonly seq: number | null;
      readonly view: "verbatim" | "compacted";
      readonly upstream: {
        readonly messages: number;
        readonly bytes: number | null;
        readonly tokens: number;
        readonly source: string;
        readonly whole: number;
      } | null;
      readonly compaction: string | null;
      readonly evidence: number | null;
      readonly status: number;
      readonly end: "answered" | "aborted" | "refused" | "failed" | "passed";
      readonly usage: {
        readonly input: number;
        readonly output: number;
        readonly cacheRead: number;
        readonly cacheWrite: number;
      } | null;
      readonly cacheShare: number | null;
      readonly cost: number | null;
      readonly saved: {
        readonly tokens: number;
        readonly cost: number | null;
      };
      readonly currency: "USD" | null;
    };
  };
  /** Who the caller is. */
  "GET /api/user": {
    readonly answer: {
      readonly user: string;
      readonly role: string;
      readonly key: string | null;
    };
  };
  /** Delete everything of the user's for good: threads, files, memory; and end their keys. The name is asked for, to be sure.. */
  "DELETE /api/user": {
    readonly body: {
      readonly user: string;
    };
    readonly answer: {
      readonly user: string;
      readonly deleted: number;
      readonly kept: readonly string[];
      readonly memories: number;
      readonly keys: number;
    };
  };
  /** Everything of the user's as JSON lines: threads with their records and files, memory with its history and files, what is known of their keys. */
  "GET /api/user/export": {
    readonly answer: string;
  };
  /** Give a key once and get a cookie for it, for a page in a browser. */
  "POST /api/session": {
    readonly body: {
      readonly key: string;
    };
    readonly answer: {
      readonly user: string;
      readonly role: string;
      readonly until: string;
    };
  };
  /** Take the cookie back. */
  "DELETE /api/session": {
    readonly body?: Record<string, never>;
    readonly answer: {
      readonly ended: true;
    };
  };
}
