/**
 * What a gateway between a client and a provider adds: time to the first token, time to the end, CPU of its process. One
 * client sends a whole history again and again, a turn longer each time, to each of them in turn: what else the machine does falls on all
 * alike. Added is what a request took more than the same request straight to the provider in the same round.
 * `npm run bench -- gateway-proxy [--rounds N] [--histories 10,1000,10000] [--only NAME,NAME]`
 */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { type Bench, BenchInputError, quantile } from "./bench.ts";
import { history } from "./gateway-proxy/history.ts";
import { type Subject, startSubjects } from "./gateway-proxy/subjects.ts";

const WARM_UP = 30;

const gatewayProxy: Bench = async (_args, options) => {
  const rounds = Number(options["rounds"] ?? 100);
  const histories = String(options["histories"] ?? "10,1000,10000")
    .split(",")
    .map(Number);
  if (![rounds, ...histories].every((number) => Number.isInteger(number) && number > 0))
    throw new BenchInputError("--rounds takes a number, --histories numbers of messages: --histories 10,1000");
  const { subjects, missing, stop } = await startSubjects();
  const only = typeof options["only"] === "string" ? options["only"].split(";") : null;
  const chosen = subjects.filter(({ name }) => only === null || name === "direct" || only.includes(name));
  const agent = new Agent({ keepAlive: true });
  try {
    const rows: object[] = [];
    for (const messages of histories) rows.push(...(await measure(chosen, { messages, rounds, agent })));
    return { rounds, missing, rows };
  } finally {
    agent.destroy();
    await stop();
  }
};

export default gatewayProxy;

interface Measuring {
  readonly messages: number;
  readonly rounds: number;
  readonly agent: Agent;
}

interface Tally {
  readonly subject: Subject;
  readonly first: number[];
  readonly whole: number[];
  readonly cpu: number[];
  /** Requests that were no continuation of their thread, where one is kept. */
  missed: number;
  /** What its process had computed before the request that is being counted. */
  before: number | null;
}

async function measure(subjects: readonly Subject[], { messages, rounds, agent }: Measuring): Promise<object[]> {
  const tallies = subjects.map(
    (subject): Tally => ({ subject, first: [], whole: [], cpu: [], missed: 0, before: null }),
  );
  // A short history would be a long one after some rounds: it begins again.
  const turns = Math.max(5, Math.ceil(messages / 4));
  let made = 0;
  let sending = history(messages, `${messages}-${made}`);
  for (let round = -WARM_UP, turn = 0; round < rounds; turn += 1) {
    if (turn > turns) {
      made += 1;
      turn = 0;
      sending = history(messages, `${messages}-${made}`);
    }
    const body = sending.next();
    // The first request of a conversation brings all of it; what is measured is how it goes on.
    const isMeasured = turn > 0 && round >= 0;
    for (const tally of shuffled(tallies)) await takeTurn(tally, { body, agent, isMeasured });
    if (turn > 0) round += 1;
  }
  for (const tally of tallies) settle(tally);
  const direct = tallies.find(({ subject }) => subject.name === "direct")!;
  const bare = tallies.find(({ subject }) => subject.name === "bare node:http");
  return tallies.map(({ subject, first, whole, cpu, missed }) => ({
    messages,
    through: subject.name,
    p50Ms: quantile(whole, 0.5),
    ...(subject.name !== "direct" && {
      addedP50Ms: quantile(differences(whole, direct.whole), 0.5),
      addedP99Ms: quantile(differences(whole, direct.whole), 0.99),
      addedFirstTokenMs: quantile(differences(first, direct.first), 0.5),
      timesBare: bare === undefined ? null : quantile(whole, 0.5) / quantile(bare.whole, 0.5),
      cpuMs: cpu.length === 0 ? null : cpu.reduce((sum, one) => sum + one, 0) / cpu.length / 1000,
      ...(/^on|^observe/.test(subject.name) && { notExtended: missed }),
    }),
  }));
}

async function takeTurn(
  tally: Tally,
  { body, agent, isMeasured }: { readonly body: Buffer; readonly agent: Agent; readonly isMeasured: boolean },
): Promise<void> {
  const { subject, first, whole } = tally;
  settle(tally);
  if (isMeasured) tally.before = subject.cpu();
  const took = await ask(subject, { body, agent });
  if (!isMeasured) return;
  first.push(took.first);
  whole.push(took.whole);
  if (took.match !== "extended") tally.missed += 1;
}

/** What the last request has cost, with what came after its end. */
function settle(tally: Tally): void {
  const now = tally.before === null ? null : tally.subject.cpu();
  if (now !== null) tally.cpu.push(now - tally.before!);
  tally.before = null;
}

function differences(values: readonly number[], from: readonly number[]): number[] {
  return values.map((value, index) => value - from[index]!);
}

function shuffled<T>(all: readonly T[]): T[] {
  return all
    .map((one) => ({ one, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

/** Milliseconds until the first token and until the end. */
async function ask(
  { name, url, headers: own }: Subject,
  { body, agent }: { readonly body: Buffer; readonly agent: Agent },
): Promise<{ readonly first: number; readonly whole: number; readonly match: unknown }> {
  const headers = {
    "content-type": "application/json",
    "content-length": body.length,
    authorization: "Bearer k",
    ...own,
  };
  const start = performance.now();
  const outgoing = request(url, { method: "POST", agent, headers });
  outgoing.end(body);
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  let first: number | null = null;
  let text = "";
  for await (const piece of response.setEncoding("utf8")) {
    text += piece;
    if (first === null && text.includes('"content"')) first = performance.now() - start;
  }
  const whole = performance.now() - start;
  if (response.statusCode !== 200 || first === null || !text.includes("word63"))
    throw new Error(`${name} answered ${response.statusCode}: ${text.slice(0, 200)}`);
  return { first, whole, match: response.headers["x-palimpsest-match"] };
}
