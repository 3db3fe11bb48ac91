/** Made by `npm run client-routes` from the gateway's table of routes. */
export interface ThreadsRoutes {
  /** Make a thread. */
  "POST /api/threads": {
    readonly body?: {
      readonly id?: string;
      readonly user?: string;
      readonly title?: string;
      readonly agent?: string;
    };
    readonly answer: {
      readonly id: string;
      readonly title: string | null;
      readonly messages: number;
      readonly updatedAt: string;
      readonly parent: string | null;
      readonly forkedAt: number | null;
      readonly user: string;
      readonly agent: string;
      readonly kind: "main" | "subagent";
    };
  };
  /** The caller's threads, the most recently changed first. */
  "GET /api/threads": {
    readonly query?: {
      readonly limit?: string | number;
      readonly after?: string | number;
      readonly kind?: "main" | "subagent";
    };
    readonly answer: {
      readonly threads: readonly {
        readonly id: string;
        readonly title: string | null;
        readonly messages: number;
        readonly updatedAt: string;
        readonly parent: string | null;
        readonly forkedAt: number | null;
        readonly user: string;
        readonly agent: string;
        readonly kind: "main" | "subagent";
      }[];
      readonly next: string | null;
    };
  };
  /** Everything ever said, in order, as given; as JSON lines with as=jsonl. */
  "GET /api/threads/{id}/messages": {
    readonly params: {
      readonly id: string;
    };
    readonly query?: {
      readonly as?: "json" | "jsonl";
    };
    readonly answer: {
      readonly thread: string;
      readonly dialect: string | null;
      readonly messages: readonly unknown[];
      readonly seqs: readonly number[];
    };
  };
  /** Delete a thread for good, with its files, its sub-agents' threads and what names it in memory. */
  "DELETE /api/threads/{id}": {
    readonly params: {
      readonly id: string;
    };
    readonly body?: Record<string, never>;
    readonly answer: {
      readonly thread: string;
      readonly deleted: true;
      readonly left?: string;
    };
  };
  /** Rename a thread. */
  "PATCH /api/threads/{id}": {
    readonly params: {
      readonly id: string;
    };
    readonly body: {
      readonly title: string;
    };
    readonly answer: {
      readonly thread: string;
      readonly title: string;
    };
  };
  /** One thread. */
  "GET /api/threads/{id}": {
    readonly params: {
      readonly id: string;
    };
    readonly answer: {
      readonly id: string;
      readonly title: string | null;
      readonly messages: number;
      readonly updatedAt: string;
      readonly parent: string | null;
      readonly forkedAt: number | null;
      readonly user: string;
      readonly agent: string;
      readonly kind: "main" | "subagent";
    };
  };
  /** What was talked about in a thread, in order. */
  "GET /api/threads/{id}/map": {
    readonly params: {
      readonly id: string;
    };
    readonly query?: {
      readonly q?: string | number;
      readonly tokens?: string | number;
    };
    readonly answer: {
      readonly thread: string;
      readonly stretches: number;
      readonly lines: readonly {
        readonly from: number;
        readonly to: number;
        readonly at: string;
        readonly label: string;
        readonly files: readonly string[];
        readonly result: string;
      }[];
    };
  };
  /** What was said and done in a thread, in any dialect, the newest page first; long texts are cut. */
  "GET /api/threads/{id}/transcript": {
    readonly params: {
      readonly id: string;
    };
    readonly query?: {
      readonly before?: string | number;
      readonly limit?: string | number;
      readonly whole?: "true" | "false";
    };
    readonly answer: {
      readonly thread: string;
      readonly entries: readonly {
        readonly seq: number;
        readonly at: string;
        readonly kind: string;
        readonly [name: string]: unknown;
      }[];
      readonly before: number | null;
      readonly children: readonly {
        readonly call: string;
        readonly agent: string;
        readonly thread: string;
        readonly status: string;
      }[];
      readonly run: string | null;
    };
  };
  /** Read a file of messages, or an app's export, into a new thread; several conversations make ID-1 ... ID-n, the files of a zip archive ID-FILE. */
  "POST /api/threads/{id}/import": {
    readonly params: {
      readonly id: string;
    };
    readonly query?: {
      readonly learn?: "true" | "false";
      readonly skipInvalid?: "true" | "false";
      readonly agent?: string | number;
    };
    readonly body: string | Blob;
    readonly answer: {
      readonly thread: string;
      readonly imported: number;
      readonly skipped: number;
      readonly dialect: string;
      readonly format: string | null;
      readonly threads: readonly {
        readonly thread: string;
        readonly messages: number;
      }[];
      readonly invalid: readonly {
        readonly place: string;
        readonly message: string;
      }[];
      readonly warnings: readonly {
        readonly place: string;
        readonly message: string;
      }[];
      readonly files?: readonly {
        readonly file: string;
        readonly imported: number;
        readonly problem: string | null;
      }[];
    };
  };
  /** Bring in files: a form, or one file as the body with ?name=. Web pages, office files, PDFs and notebooks also become Markdown. */
  "POST /api/threads/{id}/uploads": {
    readonly params: {
      readonly id: string;
    };
    readonly query?: {
      readonly name?: string | number;
    };
    readonly body: string;
    readonly answer: {
      readonly thread: string;
      readonly files: readonly {
        readonly filename: string;
        readonly size: number;
        readonly path: string;
        readonly url: string;
        readonly markdown: {
          readonly filename: string;
          readonly size: number;
          readonly path: string;
          readonly url: string;
        } | null;
        readonly problem: string | null;
        readonly code: ("unreadable" | "no-text" | "too-costly" | "missing-package") | null;
      }[];
    };
  };
  /** The files that were brought in. */
  "GET /api/threads/{id}/uploads": {
    readonly params: {
      readonly id: string;
    };
    readonly answer: {
      readonly thread: string;
      readonly files: readonly {
        readonly filename: string;
        readonly size: number;
        readonly path: string;
        readonly url: string;
      }[];
    };
  };
  /** Delete a file that was brought in, with what was made of it. */
  "DELETE /api/threads/{id}/uploads/{name}": {
    readonly params: {
      readonly id: string;
      readonly name: string;
    };
    readonly body?: Record<string, never>;
    readonly answer: {
      readonly thread: string;
      readonly filename: string;
      readonly deleted: true;
    };
  };
  /** All files of the thread: its workspace, what was brought in, what its agent made. */
  "GET /api/threads/{id}/artifacts": {
    readonly params: {
      readonly id: string;
    };
    readonly query?: {
      readonly limit?: string | number;
    };
    readonly answer: {
      readonly thread: string;
      readonly files: readonly {
        readonly filename: string;
        readonly size: number;
        readonly path: string;
        readonly url: string;
      }[];
      readonly complete: boolean;
    };
  };
  /** One file, to be saved: outputs/report.md, or the path as the agent calls it. Slashes may stand as they are. */
  "GET /api/threads/{id}/artifacts/{path}": {
    readonly params: {
      readonly id: string;
      readonly path: string;
    };
    readonly answer: string;
  };
}
