import type pg from 'pg';
import { explainOtherStore } from '../../detection/logs/storage/log-store.ts';
import type { SegmentStore } from '../../detection/logs/storage/store/segment-store.ts';

/**
 * Checks, in the transaction of a restore, that the log storage is the one that the backup lists and still has its files. With
 * `acceptMissingLogs`, queries do without files that are gone.
 */
export async function acceptListedLogs(
  client: pg.Client,
  store: SegmentStore,
  { acceptMissingLogs }: { acceptMissingLogs: boolean },
): Promise<void> {
  const { rows } = await client.query<{ id: string | null }>('select directory_id as id from log_store');
  const [expected, found] = [rows[0]!.id, await store.readId()];
  if (expected !== null && expected !== found) throw new Error(explainOtherStore(store, { expected, found }));
  await client.query('create temporary table stored_logs (organization_id uuid, path text) on commit drop');
  for await (const { orgId, files } of store.list())
    await client.query('insert into stored_logs select $1, unnest($2::text[])', [orgId, files.map(({ path }) => path)]);
  await client.query('create index on stored_logs (organization_id, path)');
  const { rows: missing } = await client.query<{ path: string }>(`
    update segments s set replaced_at = now()
    where replaced_at is null and not exists (
      select 1 from stored_logs f where f.organization_id = s.organization_id and f.path = s.path)
    returning organization_id || '/' || path as path`);
  if (missing.length > 0 && !acceptMissingLogs)
    throw new Error(
      `${store.location} no longer has ${missing.length} log files that the backup lists, such as ${missing[0]!.path}. Restore them from a version or copy of the bucket, or continue without them with --accept-missing-logs.`,
    );
}
