import assert from "node:assert/strict";
import { test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { type BeforeProvider, beforeProvider } from "../../../test/before-provider.ts";
import { withStore } from "../../../test/with-store.ts";
import { ERROR_CODES, type ErrorCode } from "./server-state.ts";

type Params = Partial<Anthropic.Beta.MessageCreateParamsNonStreaming>;
type Block = Anthropic.Beta.BetaCompactionBlock;
const user = (content: string) => ({ role: "user" as const, content });
const by = (block: Block, ...more: object[]) => ({ role: "assistant" as const, content: [block, ...more] as never });
const TOOLS = [{ name: "sound", input_schema: { type: "object" as const, properties: {} } }];
const SUMMARIZE = { compaction: { type: "summarize" as const } };

interface Given {
  /** Signed, of a conversation of ours. */
  readonly block: Block;
  readonly messageId: string;
}

/** How each of Anthropic's codes is come by; those that are never given say why. */
const PROVOKED: Readonly<Record<ErrorCode, (given: Given) => Params>> = {
  thread_not_found: () => ({ thread: { type: "continue", previous_message_id: "msg_nobodys" } }),
  thread_unsupported_request: () => ({ model: "local", thread: { type: "create" } }),
  thread_fingerprint_mismatch: ({ messageId }) => ({
    tools: TOOLS,
    thread: { type: "continue", previous_message_id: messageId },
  }),
  compaction_block_ambiguous: ({ block }) => ({ messages: [by(block), by(block), user("on")] }),
  compaction_block_misplaced: ({ block }) => ({ messages: [user("first"), by(block), user("on")] }),
  compaction_content_mismatch: ({ block }) => ({ messages: [by({ ...block, content: "Forget it." }), user("on")] }),
  compaction_incomplete_turn: () => ({
    ...SUMMARIZE,
    tools: TOOLS,
    messages: [user("look"), { role: "assistant", content: [{ type: "tool_use", id: "c", name: "sound", input: {} }] }],
  }),
  compaction_nothing_to_summarize: ({ block }) => ({ ...SUMMARIZE, messages: [by(block)] }),
  compaction_signature_invalid: ({ block }) => ({ messages: [by({ ...block, signature: "x" }), user("on")] }),
  compaction_too_many_tool_references: () => ({
    ...SUMMARIZE,
    messages: [
      user("look"),
      {
        role: "system",
        content: Array.from({ length: 129 }, (_, index) => ({
          type: "tool_addition" as const,
          tool: { type: "tool_reference" as const, name: `tool_${index}` },
        })),
      },
    ],
  }),
  compaction_tool_changes_mismatch: ({ block }) => ({
    messages: [
      by({
        ...block,
        tool_changes: [{ type: "tool_removal", tool: { type: "tool_reference", name: "sound" } }] as never,
      }),
      user("on"),
    ],
  }),
  compaction_unavailable: () => ({ ...SUMMARIZE, messages: [user("while the store says nothing")] }),
};

const NEVER = {
  thread_already_continued: "going on twice from one answer is a fork (held.test.ts)",
  thread_continue_in_flight: "so is going on while another request does",
};

test("every error code of threads and compaction comes as the official client's own class, and the provider hears nothing", async (t) => {
  const served = await beforeProvider(t, { respond: () => "yes" });
  const given = await givenBy(asking(served));
  const createThread = () => Promise.reject(new Error("the disk is gone"));
  const failing = await withStore(t, served.home.directory, (store) => ({ ...store, createThread }));
  for (const [code, provoke] of Object.entries(PROVOKED) as [ErrorCode, (typeof PROVOKED)[ErrorCode]][])
    await t.test(code, async () => {
      const headers = code === "thread_unsupported_request" ? { "x-palimpsest-mode": "off" } : {};
      const before = served.provider.requests.length;
      const ask = asking(code === "compaction_unavailable" ? { url: failing } : served);
      await assert.rejects(ask(provoke(given), headers), (error) => {
        assert.ok(error instanceof Anthropic.APIError, String(error));
        assert.deepEqual([error.status, codeOf(error)], [ERROR_CODES[code][0], code], error.message);
        assert.equal(error.constructor.name, className(code));
        return true;
      });
      assert.equal(served.provider.requests.length, before);
    });
});

test("no code that the client has a class for is forgotten", () => {
  const known = Object.keys(Anthropic).filter((name) => /^(?:Thread|Compaction)\w+Error$/.test(name));
  const ours = [...Object.keys(ERROR_CODES), ...Object.keys(NEVER)].map(className);
  assert.deepEqual(ours.toSorted(), known.toSorted());
});

test("both ways to compact at once are refused, and a foreign block passes as it is", async (t) => {
  const served = await beforeProvider(t, { respond: () => "yes" });
  const ask = asking(served);
  const { block } = await givenBy(ask);
  await assert.rejects(ask({ ...SUMMARIZE, context_management: { edits: [] } }), Anthropic.BadRequestError);
  const compact = { edits: [{ type: "compact_20260112" as const }] };
  const signed = { messages: [by(block), user("on")], context_management: compact };
  await assert.rejects(ask(signed), Anthropic.BadRequestError);
  const foreign = { type: "compaction" as const, content: "Before.", encrypted_content: "EqQBCg", signature: "Es" };
  const messages = [user("first"), by(foreign), user("on")];
  await ask({ messages }).catch(() => null);
  assert.ok(JSON.stringify(served.provider.requests.at(-1)!.body).includes("EqQBCg"));
  await ask({ model: "local", messages });
  const elsewhere = JSON.stringify(served.provider.requests.at(-1)!.body);
  assert.ok(elsewhere.includes("Before.") && !elsewhere.includes("EqQBCg"), "another vendor's model reads its words");
});

type Ask = (params: Params, headers?: Record<string, string>) => Promise<Anthropic.Beta.BetaMessage>;

function asking({ url }: Pick<BeforeProvider, "url">): Ask {
  const client = new Anthropic({ apiKey: "client", baseURL: url, maxRetries: 0 });
  return (params, headers = {}) =>
    client.beta.messages.create({ model: "claude", max_tokens: 100, messages: [user("one")], ...params }, { headers });
}

async function givenBy(ask: Ask): Promise<Given> {
  const { id, content } = await ask({ thread: { type: "create" } });
  const messages = [user("one"), { role: "assistant" as const, content }, user("two")];
  const summarized = await ask({ ...SUMMARIZE, messages });
  return { block: summarized.content[0] as Block, messageId: id };
}

function codeOf({ error }: InstanceType<typeof Anthropic.APIError>): unknown {
  return (error as { error?: { details?: { error_code?: unknown } } }).error?.details?.error_code;
}

function className(code: string): string {
  const words = code.split("_").map((word) => word[0]!.toUpperCase() + word.slice(1));
  return `${words.join("")}Error`;
}
