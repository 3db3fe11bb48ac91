/**
 * The queue of earlier schemas, which was a library's (graphile-worker) in a schema beside ours. Only the steps of schema.ts
 * need it: one makes what an older program called, a later one takes over the jobs that still wait and removes it all.
 */

const TASK = "palimpsest-memory";

/** A long name was cut, as the server would. */
function workerSchema(schema: string): string {
  return `"${schema.slice(1, -1).slice(0, 63 - "_worker".length)}_worker"`;
}

/** As it was released: the body is only read when it is called. */
export function oldQueueFunction(schema: string): string {
  const worker = workerSchema(schema);
  return `CREATE FUNCTION ${schema}.queue_memory(of_key text, payload text, delay float8, tries int) RETURNS bigint
    LANGUAGE plpgsql AS $$
    DECLARE
      one CONSTANT interval := delay * interval '1 millisecond';
      now CONSTANT timestamptz := clock_timestamp();
      due timestamptz := now + one;
      lane CONSTANT text := 'memory-' || (hashtext(of_key) & 63);
      waiting record;
      added bigint;
    BEGIN
      SELECT created_at, run_at INTO waiting FROM ${worker}.jobs
        WHERE key = of_key AND locked_at IS NULL AND attempts = 0 AND created_at <= now;
      IF FOUND THEN
        due := CASE WHEN waiting.run_at <= now THEN waiting.run_at
          ELSE least(due, waiting.created_at + 10 * one) END;
      END IF;
      LOOP
        SELECT id INTO added FROM ${worker}.add_job('${TASK}', payload::json, queue_name := lane, run_at := due,
          max_attempts := tries, job_key := of_key);
        EXIT WHEN added IS NOT NULL;
      END LOOP;
      RETURN added;
    END $$`;
}

/**
 * A job that was running is one that waits: its worker is of the older program. Jobs without a key were replaced while they
 * ran, and their successors stand for them. The library's schema goes, unless somebody else's tasks are in it. Its tables are named in strings, because they may not be there.
 */
export function carryOver(schema: string): string {
  const worker = workerSchema(schema);
  return `DO $carry$ DECLARE foreign_tasks bigint; BEGIN
    IF to_regclass('${worker}._private_jobs') IS NULL THEN RETURN; END IF;
    EXECUTE $sql$
      INSERT INTO ${schema}.memory_jobs
        (place, owner, agent, through, first, queued, run, attempts, max_attempts, error)
      SELECT t.place, j.payload->>'user', j.payload->>'agent', (j.payload->>'throughSeq')::bigint,
        j.created_at, j.created_at, j.run_at,
        j.attempts - CASE WHEN j.locked_at IS NULL THEN 0 ELSE 1 END, j.max_attempts, j.last_error
      FROM ${worker}._private_jobs j
        JOIN ${worker}._private_tasks task ON task.id = j.task_id AND task.identifier = '${TASK}'
        JOIN ${schema}.threads t ON t.id = j.payload->>'thread'
      WHERE j.key IS NOT NULL
      ON CONFLICT DO NOTHING
    $sql$;
    EXECUTE $sql$ SELECT count(*) FROM ${worker}._private_tasks WHERE identifier <> '${TASK}' $sql$ INTO foreign_tasks;
    IF foreign_tasks = 0 THEN
      EXECUTE 'DROP SCHEMA ${worker} CASCADE';
    ELSE
      EXECUTE $sql$ DELETE FROM ${worker}._private_jobs j USING ${worker}._private_tasks task
        WHERE task.id = j.task_id AND task.identifier = '${TASK}' $sql$;
    END IF;
  END $carry$`;
}
