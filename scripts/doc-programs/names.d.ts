/**
 * What a reader of a guide has already: a store, a model, a person's request, functions of the application, and what an
 * earlier program of the page imported. A name that a guide should import itself doesn't belong here.
 */
import type { Shape } from "@palimpsest/core/internal/message";
import type { ChatInit, LanguageModel, ToolSet, UIMessage } from "ai";
import type { ChatCompletionMessageParam } from "openai/resources";
import type { Agent } from "palimpsest";
import type { Client } from "palimpsest/client";
import type { AppendBatch, Store } from "palimpsest/stores";

declare global {
  // What the application has.
  const store: Store;
  const model: Extract<LanguageModel, { specificationVersion: "v4" }>;
  const small: typeof model;
  const agent: Agent;
  const client: Client;
  const tools: ToolSet;
  const myShape: Shape<{ role: string; content: string }>;
  function openMine(): Store;
  const bank: { send(to: string, amount: number): Promise<string> };
  const home: string;
  const apiKey: string;

  // What a request brings.
  const id: string;
  const threadId: string;
  const userId: string;
  const requestId: string;
  interface Report {
    readonly rule: string;
  }
  const agentName: string;
  /** Everything said so far, in OpenAI's format. */
  const said: ChatCompletionMessageParam[];
  const batch: AppendBatch;
  const initialMessages: UIMessage[];
  function idOf(request: Request): string;

  // What it does with it.
  function save(patch: unknown): Promise<void>;
  function folderOf(userId: string): string;
  function show(text: string): void;
  function orders(apiKey: string, userId: string): Promise<string>;
  function readSheet(path: string): Promise<string>;
  function isHarmless(command: string): boolean;

  // What stands in packages that aren't installed here: LangChain's models, and the hook of @ai-sdk/react.
  const ChatOpenAI: new (options: { model: string; apiKey: string; configuration: { baseURL: string } }) => object;
  const ChatAnthropic: new (options: { model: string; apiKey: string; anthropicApiUrl: string }) => object;
  const part: { readonly approval: { readonly id: string } };
  function useChat(options: ChatInit<UIMessage> & { resume?: boolean }): {
    addToolApprovalResponse(response: { id: string; approved: boolean }): void;
  };
}
