/**
 * Which statements read tables of users without saying whose rows: on Citus they would ask every node. Judged by PostgreSQL's
 * own plans, so that a table is checked however a statement names it.
 */
import pg from "pg";
import { userTables } from "../../src/stores/postgres/distribution.ts";

export interface UserStatements {
  /** Each as `table: statement`, without those that are for all users. */
  readonly ofEveryUser: readonly string[];
  /** Tables of users that no statement reads or changes, so that nothing is known of them. */
  readonly unheard: readonly string[];
}

/** The statements may have parameters, which get no values. */
export async function judgeUserStatements(url: string, statements: ReadonlySet<string>): Promise<UserStatements> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    // A plan that could look up the user does.
    await client.query("SET enable_seqscan = off");
    const tables = await userTables(
      (text, values) => client.query(text, [...(values ?? [])]).then(({ rows }) => rows),
      SCHEMA,
    );
    const ofEveryUser: string[] = [];
    const heard = new Set<string>();
    for (const statement of [...statements].filter((text) => ON_OURS.test(text))) {
      const { rows } = await client.query<ExplainRow>(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${statement}`);
      for (const node of nodesOf(rows[0]!["QUERY PLAN"][0]!.Plan)) {
        const table = node["Relation Name"];
        if (table === undefined || !tables.includes(table)) continue;
        heard.add(table);
        const read = `${table}: ${statement}`;
        if (!namesUser(node) && !FOR_EVERY_USER.some((pattern) => pattern.test(read))) ofEveryUser.push(read);
      }
    }
    return { ofEveryUser, unheard: tables.filter((table) => !heard.has(table)) };
  } finally {
    await client.end();
  }
}

const SCHEMA = '"palimpsest"';
const ON_OURS = new RegExp(`^(WITH|SELECT|INSERT|UPDATE|DELETE)\\b.*${SCHEMA}\\.`);

/** Lists over all users, the check of the store, and what workers look for: none of them belongs to a turn. */
const FOR_EVERY_USER = [
  /^threads: SELECT DISTINCT owner FROM/,
  /^threads: SELECT count\(\*\) AS threads FROM/,
  /^memories: SELECT owner AS "userId", agent AS "agentName" FROM/,
  /^outbox: SELECT .* WHERE \$1::text IS NULL OR j\.queue = \$1 ORDER BY/,
  /^outbox: SELECT run, owner, thread, key FROM \S+ WHERE queue = \$1 AND attempts < max_attempts/,
  /^outbox: UPDATE \S+ SET attempts = 0, error = NULL, .* WHERE queue = \$1 AND attempts >= max_attempts/,
];

interface ExplainRow {
  readonly "QUERY PLAN": readonly { readonly Plan: PlanNode }[];
}

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Cond"?: string;
  readonly "Recheck Cond"?: string;
  readonly Filter?: string;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** A change names its rows in the scan below it, and a new row has its user. */
function namesUser(node: PlanNode): boolean {
  const conditions = [node["Index Cond"], node["Recheck Cond"], node.Filter].join(" ");
  return node["Node Type"] === "ModifyTable" || /\bowner = /.test(conditions);
}
