import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { acrossOrgs, inOrg, rows } from '../src/db/db.ts';
import { uuidv7 } from '../src/lib/ids.ts';
import { startApp, type TestOrg } from './harness.ts';
import { fillOrg } from './fill.ts';

const { app, deps, newOrg } = await startApp();
const owner = await newOrg();
const filled = await fillOrg(deps, owner);
const stranger = await newOrg();

type Operation = { method: 'GET' | 'POST' | 'PUT' | 'DELETE'; path: string; open: boolean };

const operations: Operation[] = Object.entries(app.swagger().paths ?? {}).flatMap(([path, item]) =>
  Object.entries(item as Record<string, { security?: unknown[] }>).map(([method, { security }]) => ({
    method: method.toUpperCase() as Operation['method'],
    path,
    open: security?.length === 0,
  })),
);

test('there are operations to walk', () => {
  expect(operations.length).toBeGreaterThan(30);
});

test.each(operations.filter(({ open }) => !open))('$method $path needs a key', async ({ method, path }) => {
  const url = path.replaceAll(/\{[^}]+\}/g, uuidv7());
  const answer = await app.inject({ method, url });
  expect(answer.statusCode).toBe(401);
});

test.each(operations.filter(({ path }) => path.includes('{id}')))('$method $path does not know a row of another organization', async ({ method, path }) => {
  for (const id of filled.ids) {
    const answer = await stranger.call(method, path.replace('{id}', id), method === 'GET' || method === 'DELETE' ? undefined : {});
    expect([404, 400], `${id}: ${JSON.stringify(answer.body)}`).toContain(answer.status);
    if (answer.status === 400) expect(answer.body.code).toBe('validation_failed');
  }
});

test.each(operations.filter(({ method, path, open }) => method === 'GET' && !path.includes('{') && !open))('GET $path shows nothing of another organization', async ({ path }) => {
  const own = JSON.stringify((await stranger.call('GET', path)).body);
  for (const id of [...filled.ids, owner.id, filled.mark]) expect(own).not.toContain(id);
});

test('the owner does see what was filled in', async () => {
  const see = async (org: TestOrg) => JSON.stringify(await Promise.all(['/api/detections', '/items', '/api/logs'].map(async (path) => (await org.call('GET', path)).body)));
  expect(await see(owner)).toContain(filled.mark);
});

const tenantTables = await acrossOrgs(deps.db, (tx) =>
  rows(
    tx,
    sql<{ name: string }>`
      select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and a.attname = 'organization_id' order by 1`,
  ),
);

test.each(tenantTables)('row-level security alone hides $name', async ({ name }) => {
  const count = async (id: TestOrg['id']) =>
    (await inOrg(deps.db, id, (tx) => rows(tx, sql<{ n: number }>`select count(*)::int as n from ${sql.table(name)} where organization_id = ${owner.id}`)))[0]!.n;
  expect(await count(stranger.id)).toBe(0);
  const write = inOrg(deps.db, stranger.id, (tx) => sql`update ${sql.table(name)} set organization_id = organization_id where organization_id = ${owner.id} returning 1`.execute(tx));
  expect((await write).rows).toHaveLength(0);
  const total = (await acrossOrgs(deps.db, (tx) => rows(tx, sql<{ n: number }>`select count(*)::int as n from ${sql.table(name)} where organization_id = ${owner.id}`)))[0]!.n;
  expect(await count(owner.id)).toBe(total);
});

test('without an organization or a role nothing is seen', async () => {
  const seen = await deps.db.connection().execute(async (connection) => {
    await sql`begin`.execute(connection);
    await sql`set local role tocsin_app`.execute(connection);
    const { rows: found } = await sql<{ n: number }>`select count(*)::int as n from agents`.execute(connection);
    await sql`rollback`.execute(connection);
    return found[0]!.n;
  });
  expect(seen).toBe(0);
});

test('the roles own nothing, are no superusers and cannot pass by', async () => {
  const strong = await acrossOrgs(deps.db, (tx) =>
    rows(
      tx,
      sql`select rolname from pg_roles where rolname in ('tocsin_app', 'tocsin_system') and (rolsuper or rolbypassrls or rolcanlogin or oid in (select relowner from pg_class))`,
    ),
  );
  expect(strong).toEqual([]);
});
