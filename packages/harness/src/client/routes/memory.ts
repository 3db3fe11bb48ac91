/** Made by `npm run client-routes` from the gateway's table of routes. */
export interface MemoryRoutes {
  /** Remember a fact; one that says the same is found instead. */
  "POST /api/memory/facts": {
    readonly query?: {
      readonly agent?: string | number;
    };
    readonly body: {
      readonly content: string;
      readonly category?: string;
      readonly confidence?: number;
    };
    readonly answer: {
      readonly kind: "added" | "known";
      readonly fact: {
        readonly id: string;
        readonly content: string;
        readonly category: string;
        readonly confidence: number;
        readonly [name: string]: unknown;
      };
    };
  };
  /** The facts; with q those that match it best. */
  "GET /api/memory/facts": {
    readonly query?: {
      readonly agent?: string | number;
      readonly q?: string | number;
      readonly limit?: string | number;
    };
    readonly answer: {
      readonly facts: readonly {
        readonly id: string;
        readonly content: string;
        readonly category: string;
        readonly confidence: number;
        readonly [name: string]: unknown;
      }[];
    };
  };
  /** Correct a fact. */
  "PATCH /api/memory/facts/{fact}": {
    readonly params: {
      readonly fact: string;
    };
    readonly query?: {
      readonly agent?: string | number;
    };
    readonly body?: {
      readonly content?: string;
      readonly category?: string;
      readonly confidence?: number;
    };
    readonly answer: {
      readonly kind: "edited";
      readonly fact: {
        readonly id: string;
        readonly content: string;
        readonly category: string;
        readonly confidence: number;
        readonly [name: string]: unknown;
      };
    };
  };
  /** Forget a fact; with redact=true its words are erased everywhere, with the turns it was learned from. */
  "DELETE /api/memory/facts/{fact}": {
    readonly params: {
      readonly fact: string;
    };
    readonly query?: {
      readonly agent?: string | number;
      readonly redact?: "true" | "false";
    };
    readonly body?: {
      readonly also?: readonly string[];
    };
    readonly answer: {
      readonly forgotten: readonly string[];
      readonly fenced: readonly string[];
      readonly evidence: readonly string[];
      readonly redacted: readonly string[];
      readonly busy: readonly string[];
      readonly left?: string;
    };
  };
  /** One fact. */
  "GET /api/memory/facts/{fact}": {
    readonly params: {
      readonly fact: string;
    };
    readonly query?: {
      readonly agent?: string | number;
    };
    readonly answer: {
      readonly id: string;
      readonly content: string;
      readonly category: string;
      readonly confidence: number;
      readonly [name: string]: unknown;
    };
  };
  /** The document as other tools read it. */
  "GET /api/memory/export": {
    readonly query?: {
      readonly agent?: string | number;
    };
    readonly answer: {
      readonly userContext: {
        readonly [name: string]: string;
      };
      readonly history: {
        readonly [name: string]: string;
      };
      readonly facts: readonly {
        readonly id: string;
        readonly content: string;
        readonly category: string;
        readonly confidence: number;
        readonly [name: string]: unknown;
      }[];
      readonly [name: string]: unknown;
    };
  };
  /** Every change that was made, with what was there before. */
  "GET /api/memory/history": {
    readonly query?: {
      readonly agent?: string | number;
    };
    readonly answer: {
      readonly changes: readonly {
        readonly id: string;
        readonly kind: string;
        readonly [name: string]: unknown;
      }[];
    };
  };
  /** Add what a document knows and this memory doesn't. */
  "POST /api/memory/import": {
    readonly query?: {
      readonly agent?: string | number;
    };
    readonly body?: {
      readonly [name: string]: unknown;
    };
    readonly answer: {
      readonly imported: number;
      readonly known: number;
      readonly sections: number;
    };
  };
  /** Read it anew, past every cache. */
  "POST /api/memory/reload": {
    readonly query?: {
      readonly agent?: string | number;
    };
    readonly body?: Record<string, never>;
    readonly answer: {
      readonly userContext: {
        readonly [name: string]: string;
      };
      readonly history: {
        readonly [name: string]: string;
      };
      readonly facts: readonly {
        readonly id: string;
        readonly content: string;
        readonly category: string;
        readonly confidence: number;
        readonly [name: string]: unknown;
      }[];
      readonly [name: string]: unknown;
    };
  };
  /** Rewrite sections by their paths, such as userContext.topOfMind. */
  "PUT /api/memory": {
    readonly query?: {
      readonly agent?: string | number;
    };
    readonly body?: {
      readonly [name: string]: string;
    };
    readonly answer: {
      readonly userContext: {
        readonly [name: string]: string;
      };
      readonly history: {
        readonly [name: string]: string;
      };
      readonly facts: readonly {
        readonly id: string;
        readonly content: string;
        readonly category: string;
        readonly confidence: number;
        readonly [name: string]: unknown;
      }[];
      readonly [name: string]: unknown;
    };
  };
  /** What is remembered. */
  "GET /api/memory": {
    readonly query?: {
      readonly agent?: string | number;
    };
    readonly answer: {
      readonly userContext: {
        readonly [name: string]: string;
      };
      readonly history: {
        readonly [name: string]: string;
      };
      readonly facts: readonly {
        readonly id: string;
        readonly content: string;
        readonly category: string;
        readonly confidence: number;
        readonly [name: string]: unknown;
      }[];
      readonly [name: string]: unknown;
    };
  };
  /** How memory is set up. */
  "GET /api/memory/config": {
    readonly answer: {
      readonly enabled: boolean;
      readonly injection_enabled: boolean;
      readonly debounce_seconds: number;
      readonly max_facts: number;
      readonly fact_confidence_threshold: number;
      readonly max_injection_tokens: number;
      readonly evidence_tokens: number;
      readonly tool: boolean;
    };
  };
  /** How memory is set up, and what is remembered. */
  "GET /api/memory/status": {
    readonly query?: {
      readonly agent?: string | number;
    };
    readonly answer: {
      readonly config: {
        readonly enabled: boolean;
        readonly injection_enabled: boolean;
        readonly debounce_seconds: number;
        readonly max_facts: number;
        readonly fact_confidence_threshold: number;
        readonly max_injection_tokens: number;
        readonly evidence_tokens: number;
        readonly tool: boolean;
      };
      readonly data: {
        readonly userContext: {
          readonly [name: string]: string;
        };
        readonly history: {
          readonly [name: string]: string;
        };
        readonly facts: readonly {
          readonly id: string;
          readonly content: string;
          readonly category: string;
          readonly confidence: number;
          readonly [name: string]: unknown;
        }[];
        readonly [name: string]: unknown;
      };
    };
  };
  /** Take back the newest change, or one by its id. */
  "POST /api/memory/undo": {
    readonly query?: {
      readonly agent?: string | number;
    };
    readonly body?: {
      readonly change?: string;
    };
    readonly answer: {
      readonly undone: readonly string[];
    };
  };
}
