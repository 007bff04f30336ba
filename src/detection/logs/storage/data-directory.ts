import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { acrossOrgs, queryRow, type Db } from '../../../platform/db/db.ts';

/** Returns the file that identifies a data directory. Its content is a UUID. */
export const directoryIdPath = (dataDir: string): string => join(dataDir, 'logs', 'directory-id');

/**
 * Makes sure that this process uses the same data directory as every other process of the installation, because the log files are there.
 * The first process that starts on a database claims its directory. Throws if the directory is another one. With `adopt`, it replaces
 * the claimed one.
 */
export async function claimDataDirectory(db: Db, dataDir: string, { adopt }: { adopt: boolean }): Promise<void> {
  await acrossOrgs(db, async (tx) => {
    const { id: expected } = (await queryRow<{ id: string | null }>(
      tx,
    )`select directory_id as id from log_store for update`)!;
    const found = await readDirectoryId(dataDir);
    if (found !== undefined && found === expected) return;
    if (expected !== null && !adopt) throw new Error(explainOtherDirectory(dataDir, { expected, found }));
    // Written before the transaction commits: a crash in between leaves a file that the next start claims.
    const id = found ?? (await writeDirectoryId(dataDir));
    await sql`update log_store set directory_id = ${id}`.execute(tx);
  });
}

/** Returns undefined if the directory is the installation's or nothing has claimed one yet, else what is wrong. Changes nothing. */
export async function findDirectoryFault(db: Db, dataDir: string): Promise<string | undefined> {
  const row = await acrossOrgs(
    db,
    (tx) => queryRow<{ id: string | null }>(tx)`select directory_id as id from log_store`,
  );
  const expected = row!.id;
  const found = await readDirectoryId(dataDir);
  return expected === null || found === expected ? undefined : explainOtherDirectory(dataDir, { expected, found });
}

function explainOtherDirectory(
  dataDir: string,
  { expected, found }: { expected: string; found: string | undefined },
): string {
  const has = found === undefined ? 'this one has no such file' : `here it contains ${found}`;
  return `TOCSIN_DATA_DIR ${dataDir} is not the data directory of this installation, so its logs are not here. The file logs/directory-id of the right one contains ${expected}; ${has}. Every process needs the same directory: share it, for example with NFS. If the logs are lost, start once with --adopt-data-directory.`;
}

async function readDirectoryId(dataDir: string): Promise<string | undefined> {
  try {
    return (await readFile(directoryIdPath(dataDir), 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function writeDirectoryId(dataDir: string): Promise<string> {
  const id = randomUUID();
  await mkdir(join(dataDir, 'logs'), { recursive: true });
  await writeFile(directoryIdPath(dataDir), `${id}\n`, { flag: 'wx', flush: true });
  return id;
}
