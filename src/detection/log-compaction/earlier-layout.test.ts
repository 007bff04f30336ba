import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startLogStore } from '../../../test/support/detection/log-store.ts';
import { readPublished } from '../../../test/support/detection/published-files.ts';
import { acrossOrgs } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { duck, joinSql, quoteLiteral } from '../log-engine/sql/sql-text.ts';
import { textFilesSql } from '../log-engine/sql/table-sql.ts';
import { compactSegments } from './compact-segments.ts';

const store = await startLogStore();
const { deps } = store;
const limits = { filesMin: 2, filesMax: 50, bytesMax: 10_000_000, rowsMax: 1_000_000, hourRowsMin: 2 };

test('a file of the earlier layout is read, and becomes files of its days', async () => {
  const org = await store.newOrg();
  const sent: string[] = [];
  for (const [n, day] of ['2024-06-01', '2024-06-02', '2024-06-04'].entries()) {
    store.at(`${day}T10:00:00Z`);
    sent.push((await store.send(org, 'auth', [{ n, user: 'é' }])).batchId);
  }
  const path = `auth/${randomUUID()}.columns`;
  await writeEarlierFile(org, sent, path);
  const query = 'SELECT n, user, _ingested FROM auth ORDER BY n';
  const before = (await store.search(org, query)).rows;
  expect(before.map(({ n }) => n)).toEqual([0, 1, 2]);
  while (await compactSegments(deps, limits));
  expect((await store.search(org, query)).rows).toEqual(before);
  const { rows } = await readPublished((name) => readFile(join(deps.segmentStore.folderOf(org), 'dataset=auth', name)));
  expect(rows.map(({ n, user, date }) => [n, user, date])).toEqual([
    [0n, 'é', '2024-06-01'],
    [1n, 'é', '2024-06-02'],
    [2n, 'é', '2024-06-04'],
  ]);
});

/** Replaces batches of the columns `n` and `user` with a file as earlier versions wrote it. */
async function writeEarlierFile(org: OrgId, batches: string[], path: string): Promise<void> {
  const { rows } = await acrossOrgs(deps.db, (tx) =>
    sql<{
      path: string;
      at: Date;
    }>`select path, ingested_from as at from segments where id = any(${batches}::uuid[]) order by 2`.execute(tx),
  );
  const selects = rows.map(({ path: text, at }) => {
    const files = [
      { path: join(deps.segmentStore.folderOf(org), text), format: 'text' as const, ingestedMs: 0, columns: 0 },
    ];
    return duck`SELECT i AS _id, make_timestamp(t) AS _time, make_timestamp(${at.getTime() * 1000}) AS _ingested, e AS _event,
      json_extract_string(e, '$.n') AS c0, json_extract_string(e, '$.user') AS c1 FROM ${textFilesSql(files)}`;
  });
  const target = quoteLiteral(join(deps.segmentStore.folderOf(org), path));
  const copy = duck`COPY (${joinSql(selects, '\nUNION ALL\n')}) TO ${target} (FORMAT parquet)`;
  await deps.engine.maintain(org, { statements: [copy, duck`SELECT 1`] }, { timeoutMs: 10_000 });
  await acrossOrgs(deps.db, async (tx) => {
    await sql`
      insert into segments (organization_id, id, dataset, path, format, ingested_from, ingested_to, time_from, time_to, rows, bytes, columns, created_at)
      select organization_id, gen_random_uuid(), dataset, ${path}, 'parquet', min(ingested_from), max(ingested_to), min(time_from), max(time_to), sum(rows), 1000, 2, now()
      from segments where id = any(${batches}::uuid[]) group by organization_id, dataset`.execute(tx);
    await sql`update segments set replaced_at = now() where id = any(${batches}::uuid[])`.execute(tx);
  });
}
