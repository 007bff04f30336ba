import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { sql } from 'kysely';
import { atFileEnd } from './at-file-end.ts';
import { acrossOrgs, asRehearsed, openDb, type Db } from '../../src/platform/db/db.ts';
import { toOrgId, type OrgId } from '../../src/platform/lib/org-id.ts';
import { uuidv7 } from '../../src/platform/lib/ids.ts';
import { runStatements } from './run-statements.ts';
import { selectIn, type SelectRows } from './select-rows.ts';

export type TestDatabase = {
  db: Db;
  url: string;
  /** Runs a statement across organizations and returns its rows. */
  query: SelectRows;
};

/**
 * Clones the migrated template for this test file and drops it afterwards. With TOCSIN_REHEARSE=1, every transaction runs twice and must have the
 * effects of one.
 */
export async function testDatabase(poolMax = 8): Promise<TestDatabase> {
  const url = await createDatabase(new URL(inject('databaseUrl')).pathname.slice(1));
  const opened = openDb(url, poolMax);
  const db = process.env['TOCSIN_REHEARSE'] === '1' ? asRehearsed(opened) : opened;
  atFileEnd(() => opened.destroy());
  return { db, url, query: selectIn(db) };
}

/** Creates a database without tables and drops it after the tests of this file. Returns its URL. */
export const newEmptyDatabase = (): Promise<string> => createDatabase('template0');

async function createDatabase(template: string): Promise<string> {
  const server = new URL('/postgres', inject('databaseUrl'));
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Without the detour through the write-ahead log, which takes three times as long.
  await runStatements(server.href, `create database "${name}" template "${template}" strategy file_copy`);
  atFileEnd(() => runStatements(server.href, `drop database if exists "${name}" with (force)`));
  return new URL(`/${name}`, server).href;
}

/** Creates an organization and returns its id. */
export async function newOrgId(db: Db, name = `org-${randomBytes(4).toString('hex')}`): Promise<OrgId> {
  const id = toOrgId(uuidv7());
  await acrossOrgs(db, (tx) => sql`insert into organizations (id, name) values (${id}, ${name})`.execute(tx));
  return id;
}
