import { createHash } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';
import { inOrg } from '../db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { eraseFromDetections } from '../../detection/detections/detection-erasure.store.ts';
import { eraseFromHits } from '../../detection/hits/hit-retention.store.ts';
import { erasedMark } from '../../detection/logs/storage/compact.sql.ts';
import { eraseFromLogs } from '../../detection/logs/storage/erase-from-logs.ts';
import { insertAudit } from '../orgs/audit.store.ts';
import type { Caller } from '../orgs/caller.ts';
import { eraseFromRuns } from '../../detection/runs/run-retention.store.ts';
import type { EraseRequest, Erasure } from './retention.schema.ts';

/**
 * Removes a value from logs, rows, runs, steps, hits, memory, outbox, exceptions and tests: `[erased]` stands in its place. Logs
 * first, so that nothing is made of them again. The audit row names the value by its hash.
 */
export async function eraseValue(
  deps: Pick<Deps, 'db' | 'clock' | 'config' | 'engine'>,
  caller: Caller,
  { field, value }: EraseRequest,
): Promise<Erasure> {
  const { orgId } = caller;
  const logs = await eraseFromLogs(deps, orgId, { field, value });
  const how = erasingOf(value);
  return inOrg(deps.db, orgId, async (tx) => {
    const runs = await eraseFromRuns(tx, orgId, how);
    const hits = await eraseFromHits(tx, orgId, how);
    const { exceptions, tests } = await eraseFromDetections(tx, orgId, how);
    await sql`delete from feed_exposures where organization_id = ${orgId} and ${how.holds(['event'])}`.execute(tx);
    await sql`delete from idempotency_keys where organization_id = ${orgId} and ${how.holds(['answer'])}`.execute(tx);
    const of = (table: string): number => runs[table] ?? 0;
    const erasure: Erasure = {
      logs,
      hits,
      rows: of('candidates'),
      runs: of('runs'),
      steps: of('run_steps'),
      memory: of('memory'),
      outbox: of('outbox'),
      exceptions,
      tests,
    };
    const valueSha256 = createHash('sha256').update(value).digest('hex');
    await insertAudit(tx, caller, {
      action: 'privacy.erased',
      resourceType: 'organization',
      resourceId: orgId,
      before: null,
      after: { field, valueSha256, ...erasure },
    });
    return erasure;
  });
}

/** Texts hold a value as it is, as JSON, or as JSON within JSON. */
function erasingOf(value: string) {
  const inJson = JSON.stringify(value).slice(1, -1);
  const spellings = [...new Set([JSON.stringify(inJson).slice(1, -1), inJson, value])];
  return {
    holds: (columns: string[]): RawBuilder<boolean> => {
      const tests = columns.flatMap((name) => spellings.map((one) => sql`strpos(${sql.ref(name)}, ${one}) > 0`));
      return sql<boolean>`(${sql.join(tests, sql` or `)})`;
    },
    without: (column: string): RawBuilder<string> =>
      spellings.reduce(
        (inner, one) => sql<string>`replace(${inner}, ${one}, ${erasedMark})`,
        sql<string>`${sql.ref(column)}`,
      ),
  };
}
