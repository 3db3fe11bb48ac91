/** How a store gets its first thread: an example, a chat, a file, a client of one's own. */
import { useState } from "preact/hooks";
import { type ApiProblem, ask } from "../../api/ask.ts";
import { Empty } from "../../parts/empty.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { go } from "../../router/navigate.ts";
import { addressOf } from "../../router/place.ts";
import { exampleSession } from "./example.ts";

interface BeginningsProps {
  readonly of?: "view" | "part";
  /** What a first thread would be seen for. */
  readonly lead?: string;
}

export function Beginnings({ of = "part", lead }: BeginningsProps) {
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const example = async () => {
    // It is fiction: no other thread may take it for something that was said.
    const body = exampleSession(new Date());
    const outcome = await ask("POST /api/threads/{id}/import", {
      params: { id: "example" },
      query: { memory: "off" },
      body,
    });
    setProblem(outcome.kind === "failed" ? outcome.problem : null);
    if (outcome.kind === "failed") return;
    await ask("PATCH /api/threads/{id}", { params: { id: "example" }, body: { title: "Example: vouchers and tax" } });
    go("timeline", "example");
  };
  return (
    <Empty of={of} title="No threads yet">
      {lead !== undefined && <p>{lead}</p>}
      {problem !== null && <ProblemNote problem={problem} />}
      <ul class="ways">
        <li class="card">
          <h2>See how it works</h2>
          <p>A short conversation that is already there. It asks no model and costs nothing.</p>
          <button type="button" class="button hot" onClick={() => void example()}>
            Look at an example
          </button>
        </li>
        <li class="card">
          <h2>Say something</h2>
          <p>The first message makes a thread. Everything in it can be inspected.</p>
          <a class="button" href={addressOf("chat")}>
            Open the chat
          </a>
        </li>
        <li class="card">
          <h2>Bring a conversation</h2>
          <p>
            Drop a file{" "}
            {of === "part" ? (
              "here"
            ) : (
              <>
                under{" "}
                <a class="link" href={addressOf("threads")}>
                  Threads
                </a>
              </>
            )}
            : messages of OpenAI, Anthropic or the AI SDK, a session of Claude Code or Codex, an export of ChatGPT or
            Claude, a zip archive of such files.
          </p>
        </li>
        <li class="card">
          <h2>Point a client here</h2>
          <p>
            Set its <code>base_url</code>. It keeps working however long its history grows.
          </p>
          <code class="words">
            {location.origin}
            <wbr />
            /v1
          </code>
        </li>
      </ul>
    </Empty>
  );
}
