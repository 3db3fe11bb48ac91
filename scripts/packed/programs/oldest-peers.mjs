// Uses each optional peer in the oldest version that our ranges let in: a PostgreSQL store, a tool of an MCP server and spans.
import { trace } from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { scriptedModel } from "@palimpsest/testing";
import { startPostgres } from "@palimpsest/testing/internal/postgres-server";
import { createAgentFromConfig, parseConfig } from "palimpsest/home";
import { openStore } from "palimpsest/stores";
import { telemetry } from "palimpsest/telemetry";

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider();
provider.addSpanProcessor(new SimpleSpanProcessor(exporter));
trace.setGlobalTracerProvider(provider);

const server = await startPostgres();
const store = await openStore(server.url());
const docs = `{ command: ${JSON.stringify(process.execPath)}, args: [mcp-server.mjs] }`;
const text = `mcp_servers: { docs: ${docs} }\nmemory: { enabled: false }\ntitle: { enabled: false }\n`;
const { config } = parseConfig(text, { env: {} });
const { agent } = await createAgentFromConfig({
  home: "home",
  config,
  store,
  model: scriptedModel([{ calls: [{ name: "docs_look_up", input: { word: "palimpsest" } }] }, "done"]),
  middleware: [telemetry()],
});
await agent.generate({ threadId: "t", prompt: "Look it up." });
const said = JSON.stringify(await agent.thread("t").messages());
await agent.close();
await store.close();
await server.stop();
console.log(JSON.stringify({ said, spans: exporter.getFinishedSpans().map(({ name }) => name) }));
