import { sql } from 'kysely';
import type { Db } from './db.ts';

const monthsAhead = 3;
const partitionedTables = ['audit', 'runs', 'outbox', 'run_steps'];

/** Creates monthly partitions ahead of time. Only a table's owner may add partitions, so this runs as the pool's user, without a role. */
export async function createUpcomingPartitions(db: Db): Promise<void> {
  for (const table of partitionedTables)
    await sql`select tocsin_partition_months(${table}, current_date, ${monthsAhead})`.execute(db);
}
