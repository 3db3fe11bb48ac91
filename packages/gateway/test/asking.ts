/** A request to a compatible endpoint as a plain client sends it, and what its answer says. */

export type Message = Readonly<Record<string, unknown>>;

export const user = (content: unknown): Message => ({ role: "user", content });

export interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Message;
  readonly path?: string;
}

export interface Heard {
  readonly status: number;
  /** Of ours, without its beginning: `match`, `view`. */
  header(name: string): string | null;
  readonly headers: Headers;
  readonly text: string;
  /** The answer, as a client sends it back. */
  readonly message: Message;
}

export const CHAT = "/v1/chat/completions";
export const MESSAGES = "/v1/messages";
export const RESPONSES = "/v1/responses";

export async function ask(url: string, messages: readonly Message[], more: AskOptions = {}): Promise<Heard> {
  const { headers = {}, body = {}, path = CHAT } = more;
  const given = path.startsWith(RESPONSES) ? { model: "gpt", input: messages } : { model: modelFor(path), messages };
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", ...headers },
    body: JSON.stringify({ ...given, ...(path === MESSAGES && { max_tokens: 500 }), ...body }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    header: (name) => response.headers.get(`x-palimpsest-${name}`),
    text,
    message: messageIn(text),
  };
}

function modelFor(path: string): string {
  return path.startsWith(MESSAGES) ? "claude" : "gpt";
}

function messageIn(text: string): Message {
  try {
    const { choices, content, output } = JSON.parse(text);
    return choices?.[0]?.message ?? output?.[0] ?? { role: "assistant", content };
  } catch {
    return {};
  }
}

/** One turn after the other, all of it sent again each time; returns what a client has then. */
export async function talk(
  url: string,
  turns: number,
  more: AskOptions & { readonly question?: (turn: number) => string; readonly history?: readonly Message[] } = {},
): Promise<{ readonly messages: Message[]; readonly heard: readonly Heard[] }> {
  const { question = (turn) => `Question ${turn}: ${"how deep is it there? ".repeat(40)}`, history = [] } = more;
  const messages = [...history];
  const heard: Heard[] = [];
  for (let turn = 1; turn <= turns; turn += 1) {
    messages.push(user(question(turn)));
    const answer = await ask(url, messages, more);
    heard.push(answer);
    messages.push(answer.message);
  }
  return { messages, heard };
}
