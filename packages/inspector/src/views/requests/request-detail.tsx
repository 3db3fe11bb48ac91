/** One request of a client's, from left to right: what came, what it was taken for, what went on, what came of it. */
import type { ComponentChildren } from "preact";
import { useAnswer } from "../../api/answer.ts";
import { ask } from "../../api/ask.ts";
import { useActions } from "../../keyboard/actions.ts";
import { ProblemNote } from "../../parts/problem.tsx";
import { go } from "../../router/navigate.ts";
import { addressOf } from "../../router/place.ts";
import { madeWords, shortenedWords } from "../../text/compaction-words.ts";
import { dollars, grouped, percent } from "../../text/format.ts";
import { type ClientRequest, FORKS, MATCHES, size } from "./request-list.ts";

interface DetailProps {
  readonly id: string;
  /** As the list has it; null: it isn't among those. */
  readonly known: ClientRequest | null;
}

export function RequestDetail({ id, known }: DetailProps) {
  const asked = useAnswer(`request ${id}`, () => ask("GET /api/requests/{request}", { params: { request: id } }));
  const close = () => go("requests");
  useActions([{ name: "Close the request", key: "Escape", run: close }], id);
  const request: ClientRequest | null = asked.value ?? known;
  return (
    <aside class="request-detail" aria-label="One request">
      <header class="row">
        <h2 class="cut">{request === null ? id : `${request.path} · ${request.model}`}</h2>
        <button type="button" class="button plain push" onClick={close}>
          Close <kbd>Esc</kbd>
        </button>
      </header>
      {request === null && asked.problem !== null && <ProblemNote problem={asked.problem} />}
      {request !== null && <Steps request={request} />}
    </aside>
  );
}

function Steps({ request }: { readonly request: ClientRequest }) {
  const { client, match, fork, thread, seq, view, compaction, evidence, upstream, usage, cost, saved, mode } = request;
  return (
    <ol class="request-steps">
      <Step title="The client sent">
        <Fact name="messages">{grouped(client.messages)}</Fact>
        <Fact name="size">{size(client.bytes)}</Fact>
        <Fact name="asked for">{request.model}</Fact>
        <Fact name="mode">{mode}</Fact>
      </Step>
      <Step title={`Matched: ${match}`}>
        <p class="dim small">{MATCHES[match] ?? ""}</p>
        {fork !== null && <p class="dim small">{FORKS[fork]}</p>}
        {thread !== null && (
          <Fact name="thread">
            <a class="link" href={addressOf("window", thread)}>
              {thread}
            </a>
          </Fact>
        )}
        {seq !== null && <Fact name="answer at">#{seq}</Fact>}
        <Fact name="view">{view}</Fact>
        {compaction !== null && <Fact name="compaction">{madeWords(compaction)}</Fact>}
        {request.shortened !== null && <p class="small">{shortenedWords(request.shortened)}.</p>}
        {evidence !== null && <Fact name="evidence lent">{grouped(evidence)} tokens</Fact>}
      </Step>
      <Step title="The provider got">
        {upstream === null && <p class="dim">Nothing: it was not asked.</p>}
        {upstream !== null && (
          <>
            <Fact name="messages">{grouped(upstream.messages)}</Fact>
            <Fact name="tokens">
              {grouped(upstream.tokens)} ({upstream.source})
            </Fact>
            <Fact name="of whole">{grouped(upstream.whole)}</Fact>
            {upstream.bytes !== null && <Fact name="size">{size(upstream.bytes)}</Fact>}
            <Fact name="model">
              {request.upstreamModel} ({request.provider})
            </Fact>
          </>
        )}
        {thread !== null && seq !== null && (
          <p>
            <a class="link" href={addressOf("timeline", thread, { at: String(seq) })}>
              Message by message
            </a>
          </p>
        )}
      </Step>
      <Step title={`Came back: ${request.end} ${request.status}`}>
        <Fact name="took">{grouped(request.ms)} ms</Fact>
        {usage !== null && (
          <>
            <Fact name="in · out">
              {grouped(usage.input)} · {grouped(usage.output)}
            </Fact>
            <Fact name="from the cache">
              {grouped(usage.cacheRead)}
              {request.cacheShare !== null && ` · ${percent(request.cacheShare)}`}
            </Fact>
          </>
        )}
        {cost !== null && <Fact name="cost">{dollars(cost)}</Fact>}
        <Fact name={mode === "observe" ? "would have saved" : "saved"}>
          {grouped(saved.tokens)} tokens{saved.cost !== null && saved.cost > 0 && ` · ${dollars(saved.cost)}`}
        </Fact>
      </Step>
    </ol>
  );
}

function Step({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <li class="card">
      <h3>{title}</h3>
      <div class="step-facts">{children}</div>
    </li>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <p class="step-fact">
      <span class="dim">{name}</span>
      <span class="number">{children}</span>
    </p>
  );
}
