import assert from "node:assert/strict";
import { test } from "node:test";
import { telemetry } from "palimpsest/telemetry";
import { running, sent } from "../../test/running.ts";

type Tracer = NonNullable<NonNullable<Parameters<typeof telemetry>[0]>["tracer"]>;

/** Notes the names of spans that have ended. */
function noting(ended: string[]): Tracer {
  const startSpan = (first: string) => {
    let name = first;
    const span: Record<string, unknown> = {
      spanContext: () => ({ traceId: "0".repeat(32), spanId: "0".repeat(16), traceFlags: 0 }),
      end: () => ended.push(name),
    };
    for (const act of ["setAttribute", "setAttributes", "setStatus", "addEvent", "recordException"])
      span[act] = () => span;
    span["updateName"] = (other: string) => {
      name = other;
      return span;
    };
    return span;
  };
  return { startSpan } as unknown as Tracer;
}

test("a run over HTTP makes the spans that an agent makes anywhere", async (t) => {
  const ended: string[] = [];
  const at = await running(t, { agent: { middleware: [telemetry({ tracer: noting(ended) })] } });
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ prompt: "Hello?" });
  assert.equal((await sent(at, "/api/threads/t/runs", { method: "POST", body, headers })).status, 200);
  assert.ok(ended.includes("chat offline"), ended.join(", "));
  assert.equal(ended.at(-1), "invoke_agent default");
});
