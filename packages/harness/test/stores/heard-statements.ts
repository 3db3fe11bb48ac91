/**
 * What a piece of work asks of its database, heard from outside of our code: at the methods of Node's SQLite, and on the
 * wire to PostgreSQL.
 */
import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import type { PostgresServer } from "@palimpsest/testing/internal/postgres-server";

/** `BEGIN`, `COMMIT` and settings count as statements too. */
export interface Heard {
  readonly statements: readonly string[];
  /** In PostgreSQL: how often the server was waited for. */
  readonly roundTrips: number;
}

/** One that is begun, and each statement outside of one. Reads of SQLite outside of one aren't told apart. */
export function transactionsOf({ statements }: Heard): number {
  let open = false;
  let count = 0;
  for (const statement of statements) {
    if (/^BEGIN/.test(statement)) open = true;
    else if (/^(COMMIT|ROLLBACK)/.test(statement)) open = false;
    else if (open || /^PRAGMA/.test(statement)) continue;
    else count += 1;
    if (/^BEGIN/.test(statement)) count += 1;
  }
  return count;
}

/** Every database of this process is heard, from the call on. */
export async function heardBySqlite(work: () => Promise<unknown>): Promise<Heard> {
  const statements: string[] = [];
  const restore = [
    overhear(DatabaseSync.prototype, "exec", (_database, [sql]) => statements.push(String(sql))),
    ...(["run", "get", "all", "iterate"] as const).map((name) =>
      overhear(StatementSync.prototype, name, (statement) => statements.push((statement as StatementSync).sourceSQL)),
    ),
  ];
  try {
    await work();
  } finally {
    for (const one of restore) one();
  }
  return { statements: statements.map(onOneLine), roundTrips: 0 };
}

function overhear<T extends object, K extends keyof T>(
  target: T,
  name: K,
  listen: (self: unknown, values: readonly unknown[]) => void,
): () => void {
  const own = target[name] as (...values: unknown[]) => unknown;
  const heard = function (this: unknown, ...values: unknown[]): unknown {
    listen(this, values);
    return own.apply(this, values);
  };
  Object.assign(target, { [name]: heard });
  return () => void Object.assign(target, { [name]: own });
}

export interface PostgresEar {
  readonly url: string;
  heard(work: () => Promise<unknown>): Promise<Heard>;
  /** Every different one since the ear listens. */
  everStatement(): ReadonlySet<string>;
  /** What would stay behind on a connection, and meet whoever a pooler gives it to next. */
  sessionState(): readonly string[];
  stop(): Promise<void>;
}

/** A relay before the server that reads what clients send. */
export async function listenToPostgres(server: PostgresServer): Promise<PostgresEar> {
  const sockets = new Set<Socket>();
  let messages: ClientMessage[] = [];
  const left: string[] = [];
  const ever = new Set<string>();
  const relay = createServer((client) => {
    const upstream = createConnection(join(server.folder, ".s.PGSQL.5432"));
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.setNoDelay(true);
    const read = clientMessages();
    client.on("data", (chunk) => {
      const said = read(chunk);
      messages.push(...said);
      for (const { statement } of said) if (statement !== null) ever.add(onOneLine(statement));
      left.push(...said.flatMap(({ statement }) => (statement !== null && STAYS.test(statement) ? [statement] : [])));
    });
    client.pipe(upstream);
    upstream.pipe(client);
  });
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");
  return {
    url: `postgres://postgres@127.0.0.1:${(relay.address() as AddressInfo).port}/postgres`,
    async heard(work) {
      messages = [];
      await work();
      const statements = messages.flatMap(({ statement }) => (statement === null ? [] : [onOneLine(statement)]));
      return { statements, roundTrips: messages.filter(({ type }) => type === "Q" || type === "S").length };
    },
    everStatement: () => ever,
    sessionState: () => left,
    async stop() {
      for (const socket of sockets) socket.destroy();
      const closed = once(relay, "close");
      relay.close();
      await closed;
    },
  };
}

/**
 * Statements that outlive their transaction on a connection: settings, locks of the session, listening, temporary tables,
 * cursors that are held, and statements that are prepared under a name.
 */
const STAYS = new RegExp(
  [
    "^\\s*SET (?!LOCAL|CONSTRAINTS)",
    "^\\s*(LISTEN|UNLISTEN|LOAD|DISCARD|RESET|PREPARE|named )",
    "set_config\\(([^()]|\\(([^()]|\\([^()]*\\))*\\))*, *false\\)",
    "pg_(try_)?advisory_lock",
    "CREATE (GLOBAL |LOCAL )?TEMP",
    "WITH HOLD",
  ].join("|"),
  "i",
);

interface ClientMessage {
  readonly type: string;
  /** Of a query, or of one that is being prepared. */
  readonly statement: string | null;
}

/** Reads a connection's messages out of its pieces: a type, a length that counts itself, the content. */
function clientMessages(): (chunk: Buffer) => ClientMessage[] {
  let rest = Buffer.alloc(0);
  let pieces: Buffer[] = [];
  /** So many bytes are there, and so many are needed before it is worth a look. */
  let [size, needed] = [0, 0];
  /** The first message has no type. */
  let started = false;
  return (chunk) => {
    pieces.push(chunk);
    size += chunk.length;
    if (size < needed) return [];
    rest = Buffer.concat([rest, ...pieces]);
    pieces = [];
    const messages: ClientMessage[] = [];
    for (;;) {
      const head = started ? 1 : 0;
      const end = rest.length < head + 4 ? head + 4 : head + rest.readInt32BE(head);
      if (rest.length < Math.max(end, head + 4)) {
        [size, needed] = [rest.length, end];
        return messages;
      }
      if (started) messages.push(messageOf(String.fromCharCode(rest[0]!), rest.subarray(5, end)));
      started = true;
      rest = rest.subarray(end);
    }
  };
}

function messageOf(type: string, content: Buffer): ClientMessage {
  const texts = content.toString().split("\0");
  if (type === "Q") return { type, statement: texts[0]! };
  if (type !== "P") return { type, statement: null };
  return { type, statement: texts[0] === "" ? texts[1]! : `named ${texts[0]}: ${texts[1]}` };
}

function onOneLine(sql: string): string {
  return sql.replace(/\s+/g, " ").trim();
}
