import type pg from 'pg';
import { queryRow, type Tx } from '../../platform/db/db.ts';

// An arbitrary advisory lock ID that nothing else uses.
const lockId = 8_423_004;

/** Keeps the files of replaced segments until the connection ends, so that a backup can copy what its snapshot lists. */
export async function keepReplacedFiles(client: pg.Client): Promise<void> {
  await client.query('select pg_advisory_lock_shared($1)', [lockId]);
}

/** Returns whether a backup copies files. One that begins later copies no file that is replaced now. */
export async function isBackupRunningAcrossOrgs(tx: Tx): Promise<boolean> {
  const row = await queryRow<{ free: boolean }>(tx)`select pg_try_advisory_xact_lock(${lockId}) as free`;
  return !row!.free;
}
