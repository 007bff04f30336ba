import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { acrossOrgs, queryRow, type Db } from '../../platform/db/db.ts';
import type { SegmentStore } from './files/segment-store.ts';

/**
 * Makes sure that this process uses the same folder or bucket as every other process of the installation, because the log files are there. The
 * first process that starts on a database claims its storage. Throws if the storage is another one. With `adopt`, it replaces the claimed one.
 */
export async function claimLogStore(db: Db, store: SegmentStore, { adopt }: { adopt: boolean }): Promise<void> {
  await acrossOrgs(db, async (tx) => {
    const { id: expected } = (await queryRow<{ id: string | null }>(tx)`
      select directory_id as id from log_store for update`)!;
    const found = await store.readId();
    if (found !== undefined && found === expected) return;
    if (expected !== null && !adopt) throw new Error(explainOtherStore(store, { expected, found }));
    const id = found ?? randomUUID();
    // Written before the transaction commits: a crash in between leaves an ID that the next start claims.
    if (found === undefined) await store.writeId(id);
    await sql`update log_store set directory_id = ${id}`.execute(tx);
  });
}

/** Returns undefined if the storage is the installation's or nothing has claimed one yet, else what is wrong. Changes nothing. */
export async function findLogStoreFault(db: Db, store: SegmentStore): Promise<string | undefined> {
  const row = await acrossOrgs(
    db,
    (tx) => queryRow<{ id: string | null }>(tx)`select directory_id as id from log_store`,
  );
  const expected = row!.id;
  const found = await store.readId();
  return expected === null || found === expected ? undefined : explainOtherStore(store, { expected, found });
}

export function explainOtherStore(
  { location }: SegmentStore,
  { expected, found }: { expected: string; found: string | undefined },
): string {
  const has = found === undefined ? 'here it does not exist' : `here it contains ${found}`;
  return `${location} is not the log storage of this installation, so its logs are not here. The file directory-id of the right one contains ${expected}; ${has}. Every process needs the same storage: a bucket (TOCSIN_LOGS_URL), or one data directory that all share (TOCSIN_DATA_DIR). If the logs are lost, start once with --adopt-log-store.`;
}
