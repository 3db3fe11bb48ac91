/** Made by `npm run client-routes` from the gateway's table of routes. */
export interface ChatRoutes {
  /** A message in a chat, an answer once more, a message edited, a call approved: as useChat sends it. */
  "POST /api/chat": {
    readonly body: {
      readonly id: string;
      readonly messages: readonly {
        readonly role: string;
        readonly [name: string]: unknown;
      }[];
      readonly trigger?: "submit-message" | "regenerate-message";
      readonly messageId?: string;
      readonly model?: string;
      readonly on_disconnect?: "cancel" | "continue";
    };
    readonly answer: string;
  };
  /** The answer under way in a chat, from its beginning; 204 where there is none. */
  "GET /api/chat/{id}/stream": {
    readonly params: {
      readonly id: string;
    };
    readonly answer: string;
  };
  /** A chat's messages as useChat shows them, for a page that is loaded again. */
  "GET /api/chat/{id}": {
    readonly params: {
      readonly id: string;
    };
    readonly answer: {
      readonly id: string;
      readonly messages: readonly unknown[];
    };
  };
}
