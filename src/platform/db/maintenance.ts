import { sql } from 'kysely';
import { acrossOrgs, type Db } from './db.ts';
import { loop } from '../lib/loop.ts';
import type { Logger } from '../lib/logger.ts';

const hourMs = 3_600_000;
const monthsAhead = 3;
const partitioned = ['audit', 'runs', 'outbox', 'run_steps'];

/** Once an hour: months ahead for the partitioned tables, and idempotency keys past their day removed. */
export function maintainLoop({ db, log }: { db: Db; log: Logger }, signal: AbortSignal): Promise<void> {
  return loop({ name: 'maintain', idleMs: hourMs, signal, log }, async () => {
    await makeMonthsAhead(db);
    await acrossOrgs(db, (tx) =>
      sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`.execute(tx),
    );
    return false;
  });
}

/** Only the owner of a table can give it partitions, so this runs as the user of the pool, without a role. */
export async function makeMonthsAhead(db: Db): Promise<void> {
  for (const table of partitioned)
    await sql`select tocsin_partition_months(${table}, current_date, ${monthsAhead})`.execute(db);
}
