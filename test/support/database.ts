import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, inject } from 'vitest';
import { sql } from 'kysely';
import { acrossOrgs, openDb, type Db } from '../../src/platform/db/db.ts';
import { toOrgId, type OrgId } from '../../src/platform/lib/org-id.ts';
import { uuidv7 } from '../../src/platform/lib/ids.ts';
import { selectIn, type SelectRows } from './select-rows.ts';

export type TestDatabase = {
  db: Db;
  url: string;
  /** Runs a statement across organizations and returns its rows. */
  query: SelectRows;
};

/** Clones the migrated template for this test file and drops it afterwards. */
export async function testDatabase(poolMax = 8): Promise<TestDatabase> {
  const template = new URL(inject('databaseUrl'));
  const name = `test_${randomBytes(6).toString('hex')}`;
  const url = new URL(template);
  url.pathname = `/${name}`;
  await admin(template, `create database "${name}" template "${template.pathname.slice(1)}"`);
  const db = openDb(url.href, poolMax);
  afterAll(async () => {
    await db.destroy();
    await admin(template, `drop database if exists "${name}" with (force)`);
  });
  return { db, url: url.href, query: selectIn(db) };
}

async function admin(template: URL, statement: string): Promise<void> {
  const url = new URL(template);
  url.pathname = '/postgres';
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(statement);
  await client.end();
}

/** Creates an organization and returns its id. */
export async function newOrgId(db: Db, name = `org-${randomBytes(4).toString('hex')}`): Promise<OrgId> {
  const id = toOrgId(uuidv7());
  await acrossOrgs(db, (tx) => sql`insert into organizations (id, name) values (${id}, ${name})`.execute(tx));
  return id;
}
