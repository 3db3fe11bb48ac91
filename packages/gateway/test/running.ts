/** A gateway on a home of its own, on a real port, closed with the test. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Home, openHome } from "palimpsest/home";
import { createGateway, type Gateway, type GatewayOptions, type LogLine, type RequestLine } from "../src/index.ts";

export interface Running {
  readonly gateway: Gateway;
  readonly home: Home;
  readonly url: string;
  readonly port: number;
  readonly lines: readonly RequestLine[];
}

/** A store on a slow disk is not silent: only what tests silence has a limit. */
export const PATIENT = { storeSilenceMs: 600_000 };

export interface RunningOptions
  extends Partial<Pick<GatewayOptions, "log" | "agent" | "clock" | "after" | "storeSilenceMs">> {
  /** The text of `config.yaml`. */
  readonly config?: string;
  /** A URL; without it a SQLite file. */
  readonly store?: string;
  /** The name of a skill it has. */
  readonly skill?: string;
}

export async function running(
  t: TestContext,
  { config, skill, store, ...options }: RunningOptions = {},
): Promise<Running> {
  const directory = mkdtempSync(join(tmpdir(), "palimpsest-gateway-"));
  if (config !== undefined) writeFileSync(join(directory, "config.yaml"), config);
  if (skill !== undefined) {
    mkdirSync(join(directory, "skills", skill), { recursive: true });
    writeFileSync(
      join(directory, "skills", skill, "SKILL.md"),
      `---\nname: ${skill}\ndescription: About ${skill}\n---\nLook.\n`,
    );
  }
  const home = await openHome({
    home: directory,
    cwd: directory,
    env: { HOME: directory },
    ...(store !== undefined && { store }),
  });
  const lines: RequestLine[] = [];
  const log = (line: LogLine) => void ("request" in line && lines.push(line));
  const gateway = createGateway({ home, log, ...PATIENT, ...options });
  const { url, port } = await gateway.listen({ port: 0 });
  t.after(async () => {
    await gateway.close();
    await home.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return { gateway, home, url, port, lines };
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A request with exactly these headers: `fetch` won't send a Host, an Origin or a Sec-Fetch-Site of one's own. */
export function sent(
  { port }: Pick<Running, "port">,
  path: string,
  {
    method = "GET",
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Answered> {
  // Node frames no body of a DELETE by itself.
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, method, agent: false, headers: { ...length, ...headers } };
    const outgoing = request(options, (incoming) => {
      let text = "";
      incoming.setEncoding("utf8");
      incoming.on("data", (piece: string) => {
        text += piece;
      });
      incoming.on("end", () => resolve({ status: incoming.statusCode!, headers: incoming.headers, text }));
      incoming.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

export function codeOf({ text }: Answered): string {
  return (JSON.parse(text) as { error: { code: string } }).error.code;
}
