/** Made by `npm run client-routes` from the gateway's table of routes. */
export interface ThreadShapeRoutes {
  /** Set a standing rule; one that it contradicts ends. */
  "POST /api/threads/{id}/rules": {
    readonly params: {
      readonly id: string;
    };
    readonly body: {
      readonly text: string;
    };
    readonly answer: {
      readonly thread: string;
      readonly rule: {
        readonly id: string;
        readonly text: string;
        readonly status: "active" | "proposed" | "ended";
        readonly scope: "thread" | "user" | "agent" | "file";
        readonly by: "recognized" | "hand" | "model";
        readonly source: number | null;
        readonly at: string;
        readonly ended?: string;
      };
      readonly ended: readonly {
        readonly id: string;
        readonly text: string;
        readonly status: "active" | "proposed" | "ended";
        readonly scope: "thread" | "user" | "agent" | "file";
        readonly by: "recognized" | "hand" | "model";
        readonly source: number | null;
        readonly at: string;
        readonly ended?: string;
      }[];
    };
  };
  /** The standing rules of a thread. */
  "GET /api/threads/{id}/rules": {
    readonly params: {
      readonly id: string;
    };
    readonly answer: {
      readonly thread: string;
      readonly rules: readonly {
        readonly id: string;
        readonly text: string;
        readonly status: "active" | "proposed" | "ended";
        readonly scope: "thread" | "user" | "agent" | "file";
        readonly by: "recognized" | "hand" | "model";
        readonly source: number | null;
        readonly at: string;
        readonly ended?: string;
      }[];
    };
  };
  /** Give a rule other words. */
  "POST /api/threads/{id}/edit-rule": {
    readonly params: {
      readonly id: string;
    };
    readonly body: {
      readonly rule: string;
      readonly text: string;
    };
    readonly answer: {
      readonly thread: string;
      readonly rule: {
        readonly id: string;
        readonly text: string;
        readonly status: "active" | "proposed" | "ended";
        readonly scope: "thread" | "user" | "agent" | "file";
        readonly by: "recognized" | "hand" | "model";
        readonly source: number | null;
        readonly at: string;
        readonly ended?: string;
      };
      readonly ended: readonly {
        readonly id: string;
        readonly text: string;
        readonly status: "active" | "proposed" | "ended";
        readonly scope: "thread" | "user" | "agent" | "file";
        readonly by: "recognized" | "hand" | "model";
        readonly source: number | null;
        readonly at: string;
        readonly ended?: string;
      }[];
    };
  };
  /** End a rule: it is no longer shown. */
  "POST /api/threads/{id}/end-rule": {
    readonly params: {
      readonly id: string;
    };
    readonly body: {
      readonly rule: string;
    };
    readonly answer: {
      readonly thread: string;
      readonly rule: {
        readonly id: string;
        readonly text: string;
        readonly status: "active" | "proposed" | "ended";
        readonly scope: "thread" | "user" | "agent" | "file";
        readonly by: "recognized" | "hand" | "model";
        readonly source: number | null;
        readonly at: string;
        readonly ended?: string;
      };
      readonly ended: readonly {
        readonly id: string;
        readonly text: string;
        readonly status: "active" | "proposed" | "ended";
        readonly scope: "thread" | "user" | "agent" | "file";
        readonly by: "recognized" | "hand" | "model";
        readonly source: number | null;
        readonly at: string;
        readonly ended?: string;
      }[];
    };
  };
  /** Put one short turn in the place of a range of messages. */
  "POST /api/threads/{id}/compact-range": {
    readonly params: {
      readonly id: string;
    };
    readonly body?: {
      readonly from?: number;
      readonly until?: number;
      readonly report?: string;
      readonly dryRun?: boolean;
    };
    readonly answer: {
      readonly thread: string;
      readonly seq: number | null;
      readonly range: readonly number[];
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly rereads: number;
      readonly paysAfter: number | null;
    };
  };
  /** Hide a message or one part of it from the prompt; the log keeps it. */
  "POST /api/threads/{id}/hide": {
    readonly params: {
      readonly id: string;
    };
    readonly body: {
      readonly seq: number;
      readonly part?: number;
      readonly dryRun?: boolean;
    };
    readonly answer: {
      readonly thread: string;
      readonly seq: number | null;
      readonly range: readonly number[];
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly rereads: number;
      readonly paysAfter: number | null;
    };
  };
  /** The model's notes in a thread. */
  "GET /api/threads/{id}/notes": {
    readonly params: {
      readonly id: string;
    };
    readonly answer: {
      readonly thread: string;
      readonly notes: readonly {
        readonly name: string;
        readonly text: string;
        readonly revision: number;
        readonly by: "model" | "person";
        readonly at: string;
        readonly cites: readonly number[];
      }[];
    };
  };
  /** Write or delete a note, if nobody has changed it since it was read. */
  "POST /api/threads/{id}/notes": {
    readonly params: {
      readonly id: string;
    };
    readonly body: {
      readonly name: string;
      readonly text: string;
      readonly revision: number;
    };
    readonly answer: {
      readonly thread: string;
      readonly note: {
        readonly name: string;
        readonly text: string;
        readonly revision: number;
        readonly by: "model" | "person";
        readonly at: string;
        readonly cites: readonly number[];
      } | null;
    };
  };
  /** Put an ended rule or a proposal in force. */
  "POST /api/threads/{id}/restore-rule": {
    readonly params: {
      readonly id: string;
    };
    readonly body: {
      readonly rule: string;
    };
    readonly answer: {
      readonly thread: string;
      readonly rule: {
        readonly id: string;
        readonly text: string;
        readonly status: "active" | "proposed" | "ended";
        readonly scope: "thread" | "user" | "agent" | "file";
        readonly by: "recognized" | "hand" | "model";
        readonly source: number | null;
        readonly at: string;
        readonly ended?: string;
      };
      readonly ended: readonly {
        readonly id: string;
        readonly text: string;
        readonly status: "active" | "proposed" | "ended";
        readonly scope: "thread" | "user" | "agent" | "file";
        readonly by: "recognized" | "hand" | "model";
        readonly source: number | null;
        readonly at: string;
        readonly ended?: string;
      }[];
    };
  };
  /** Show a message again that was hidden or folded. */
  "POST /api/threads/{id}/show": {
    readonly params: {
      readonly id: string;
    };
    readonly body: {
      readonly seq: number;
      readonly part?: number;
    };
    readonly answer: {
      readonly thread: string;
      readonly shown: number;
      readonly undone: readonly number[];
    };
  };
}
