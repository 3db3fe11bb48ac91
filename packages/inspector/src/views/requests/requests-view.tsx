/** What clients sent to the compatible endpoints: what it was taken for, what the provider got, what it cost and saved. */
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../../api/answer.ts";
import { ask } from "../../api/ask.ts";
import { Empty } from "../../parts/empty.tsx";
import { ProblemNote } from "../../parts/problem.tsx";
import { go, place } from "../../router/navigate.ts";
import { addressOf } from "../../router/place.ts";
import { ago, dollars, grouped, percent, short } from "../../text/format.ts";
import { threadName } from "../thread-name.ts";
import { RequestDetail } from "./request-detail.tsx";
import { type ClientRequest, matching, totalsOf } from "./request-list.ts";

const EVERY_MS = 3000;

export function RequestsView() {
  const { id } = place.value;
  const [words, setWords] = useState("");
  const list = useAnswer("requests", () => ask("GET /api/requests", { query: { limit: 200 } }));
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) list.reload();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const all: readonly ClientRequest[] = list.value?.requests ?? [];
  const shown = matching(all, words, threadName);
  return (
    <div class={`requests ${id === null ? "" : "has-detail"}`}>
      <section class="requests-list" aria-labelledby="requests-title">
        <header class="row wrap">
          <h1 id="requests-title">Requests</h1>
          {all.length > 0 && (
            <input
              class="field push search"
              type="search"
              aria-label="Find requests"
              placeholder="Model, thread, forked, 502…"
              value={words}
              onInput={(event) => setWords(event.currentTarget.value)}
            />
          )}
        </header>
        {list.problem !== null && <ProblemNote problem={list.problem} retry={list.reload} />}
        {list.value !== null && all.length === 0 && <None />}
        {all.length > 0 && <TotalsLine requests={shown} />}
        {all.length > 0 && shown.length === 0 && <p class="dim">No request has all of these words.</p>}
        {shown.length > 0 && <Table requests={shown} chosen={id} />}
      </section>
      {id !== null && <RequestDetail key={id} id={id} known={all.find((one) => one.id === id) ?? null} />}
    </div>
  );
}

function None() {
  return (
    <Empty title="No client has asked anything yet">
      <p>Give a client of OpenAI or Anthropic this address, and it keeps working however long its history grows:</p>
      <pre>base_url = {location.origin}/v1</pre>
      <p>The last requests are listed here while they come in. Nothing is kept of them but their figures.</p>
    </Empty>
  );
}

function TotalsLine({ requests }: { readonly requests: readonly ClientRequest[] }) {
  const { count, failed, savedTokens, savedShare, cost, savedCost, cacheShare } = totalsOf(requests);
  return (
    <dl class="totals">
      <Figure name="requests" value={grouped(count)} />
      <Figure name="tokens saved" value={savedTokens === 0 ? "0" : `${short(savedTokens)} · ${percent(savedShare)}`} />
      {cost !== null && <Figure name="cost" value={dollars(cost)} />}
      {savedCost !== null && savedCost > 0 && <Figure name="dollars saved" value={dollars(savedCost)} />}
      {cacheShare !== null && <Figure name="from the cache" value={percent(cacheShare)} />}
      {failed > 0 && <Figure name="failed" value={grouped(failed)} />}
    </dl>
  );
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt class="dim small">{name}</dt>
      <dd class="number">{value}</dd>
    </div>
  );
}

function Table({ requests, chosen }: { readonly requests: readonly ClientRequest[]; readonly chosen: string | null }) {
  const most = Math.max(1, ...requests.map(({ upstream }) => upstream?.whole ?? 0));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
    <section class="scroll-x" tabIndex={0} aria-label="The last requests">
      <table class="request-table">
        <thead>
          <tr>
            {COLUMNS.map(([title, meaning]) => (
              <th key={title} scope="col" title={meaning}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {requests.map((one) => (
            <Row key={one.id} request={one} most={most} isChosen={one.id === chosen} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

const COLUMNS = [
  ["when", undefined],
  ["thread", "The thread that the request belongs to"],
  ["model", undefined],
  ["matched", "How that thread was found: new, extended or forked"],
  ["tokens sent", "What the provider got, of what the client sent"],
  ["cache", "The share of the prompt that the provider's cache held"],
  ["cost", undefined],
  ["tokens saved", "Tokens that the provider did not get"],
] as const;

interface RowProps {
  readonly request: ClientRequest;
  /** Tokens of the largest history, which fills its bar. */
  readonly most: number;
  readonly isChosen: boolean;
}

function Row({ request, most, isChosen }: RowProps) {
  const { id, at, model, match, upstream, cacheShare, cost, saved, end, status } = request;
  const { thread } = request;
  const isBad = end === "failed" || end === "refused";
  return (
    <tr class={isChosen ? "is-chosen" : ""} onClick={() => go("requests", id)}>
      <th scope="row">
        <a href={addressOf("requests", id)} aria-current={isChosen ? "true" : undefined}>
          {ago(at, new Date())}
          <span class="hidden"> {model}</span>
        </a>
      </th>
      <td class="cut" dir="auto">
        {thread === null ? "-" : threadName(thread)}
      </td>
      <td>{model}</td>
      <td>
        <span class={`pill ${isBad ? "bad" : match === "forked" ? "hot" : ""}`}>
          {isBad ? `${end} ${status}` : match}
        </span>
      </td>
      <td>{upstream === null ? "-" : <Sizes sent={upstream.tokens} whole={upstream.whole} most={most} />}</td>
      <td class="number">{cacheShare === null ? "-" : percent(cacheShare)}</td>
      <td class="number">{cost === null ? "-" : dollars(cost)}</td>
      <td class="number">{saved.tokens === 0 ? "-" : short(saved.tokens)}</td>
    </tr>
  );
}

function Sizes({ sent, whole, most }: { readonly sent: number; readonly whole: number; readonly most: number }) {
  return (
    <span class="sizes">
      <span class="gauge size-bar" style={{ width: `${(100 * Math.max(whole, sent)) / most}%` }} aria-hidden="true">
        <span class="gauge-fill" style={{ width: `${(100 * sent) / Math.max(whole, sent, 1)}%` }} />
      </span>
      <span class="number">
        {short(sent)} <span class="dim">of {short(Math.max(whole, sent))}</span>
      </span>
    </span>
  );
}
