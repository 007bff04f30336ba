import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { acrossOrgs, inOrg } from '../../src/platform/db/db.ts';
import { selectIn } from '../support/select-rows.ts';
import { uuidv7 } from '../../src/platform/lib/ids.ts';
import { uuidPattern } from '../../src/platform/lib/org-id.ts';
import { bodyFor, urlFor } from '../support/bodies.ts';
import { fillOrganization } from '../support/walk/fill-organization.ts';
import { startApp, type TestOrg } from '../support/harness.ts';
import { isOpen, registeredRoutes } from '../support/registered-routes.ts';
import { runStatements } from '../support/run-statements.ts';

const { app, deps, url, newOrg } = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });
const owner = await newOrg();
const filled = await fillOrganization(deps, owner);
const stranger = await newOrg();
// The table has one in sixteen items, perhaps none of these.
await acrossOrgs(deps.db, (tx) =>
  sql`insert into item_search_sample select organization_id, item_id, pool_id, words from item_search on conflict do nothing`.execute(
    tx,
  ),
);
type Method = Parameters<TestOrg['call']>[0];

const routes = registeredRoutes(app).map(({ method, path }) => ({
  method: method as Method,
  path,
  open: isOpen({ method, path }),
}));
const keyed = routes.filter(({ open }) => !open);
/** Routes of the operator's key belong to no organization. */
const ofOrganizations = keyed.filter(({ path }) => !path.startsWith('/api/admin/'));

test('only the expected routes are open', () => {
  expect(keyed.length).toBeGreaterThan(30);
  const changing = routes.filter(({ open, method }) => open && method !== 'GET');
  expect(changing.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /api/session',
    'POST /api/session/link',
    'POST /api/hooks/{id}',
  ]);
});

test.each(keyed)('$method $path needs a key', async ({ method, path }) => {
  // Too many failures of one address are answered with 429.
  const remoteAddress = `192.0.2.${keyed.findIndex((route) => route.path === path) % 250}`;
  const url = path.replaceAll(/\{[^}]+\}/g, uuidv7());
  for (const each of method === 'GET' ? (['GET', 'HEAD'] as const) : [method]) {
    expect((await app.inject({ method: each, url, remoteAddress })).statusCode).toBe(401);
  }
});

// A route has one scope. Of two keys with one different scope each, at least one is rejected. A route without a scope rejects neither.
const poor = [await newOrg(['connections:admin']), await newOrg(['hits:write'])];
const ownSession = keyed.filter(({ path }) => path === '/api/session');
test.each(keyed.filter((route) => !ownSession.includes(route)))(
  '$method $path needs a scope',
  async ({ method, path }) => {
    const url = path.replaceAll(/\{[^}]+\}/g, uuidv7());
    const statuses = await Promise.all(poor.map(async (org) => (await org.call(method, url)).status));
    expect(statuses).toContain(403);
  },
);

const tenantTables = await selectIn(deps.db)<{ name: string }>`
      select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and a.attname = 'organization_id' order by 1`;

/** Required query parameters of a path. */
const withQuery: Record<string, string> = {
  '/api/indicators': 'value=evil-host.top',
  '/api/indicators/context': 'value=evil-host.top',
  '/api/feed/export/blocklist': 'type=domain&minConfidence=0&maxTlp=RED',
  '/api/feed/export/csv': 'maxTlp=RED',
};

/** TAXII collections have the same ids for everyone. Their content belongs to the organization. */
const ownLists = ['all', 'relevant', 'indicators'].flatMap((name) =>
  ['objects', 'manifest'].map((list) => `/taxii2/root/collections/${name}/${list}/`),
);

test('the owner sees its own records', async () => {
  const paths = ['/api/detections', '/items', '/api/logs'];
  const bodies = await Promise.all(paths.map(async (path) => (await owner.call('GET', path)).body));
  expect(JSON.stringify(bodies)).toContain(filled.mark);
});

// Tables whose rows exist only during a backfill or deduplication. Every other table must have rows to hide.
const without = ['revisits', 'item_links', 'item_decisions', 'item_arrivals'];

/** Tables that only the operator writes. */
const readOnly = ['organization_limits'];

test.each(tenantTables)('row-level security alone hides rows of $name', async ({ name }) => {
  const count = async (reader?: TestOrg['id']): Promise<number> => {
    const select = selectIn(deps.db, reader);
    const [row] = await select<{ n: number }>`
      select count(*)::int as n from ${sql.table(name)} where organization_id = ${owner.id}`;
    return row!.n;
  };
  expect(await count(stranger.id)).toBe(0);
  const write = inOrg(deps.db, stranger.id, (tx) =>
    sql`update ${sql.table(name)} set organization_id = organization_id where organization_id = ${owner.id} returning 1`.execute(
      tx,
    ),
  );
  if (readOnly.includes(name)) await expect(write).rejects.toThrow('permission denied');
  else expect((await write).rows).toHaveLength(0);
  const total = await count();
  expect(await count(owner.id)).toBe(total);
  if (!without.includes(name)) expect(total).toBeGreaterThan(0);
});

// A feed row belongs to the owner of its pool, which its policies check.
test.each(tenantTables.filter(({ name }) => !/^items?(_|$)/.test(name) && !without.includes(name)))(
  'row-level security alone prevents moving a row of $name to another organization',
  async ({ name }) => {
    const give = inOrg(deps.db, owner.id, (tx) =>
      sql`update ${sql.table(name)} set organization_id = ${stranger.id} where organization_id = ${owner.id}`.execute(
        tx,
      ),
    );
    await expect(give).rejects.toThrow(readOnly.includes(name) ? 'permission denied' : 'row-level security');
  },
);

test('shows nothing without an organization or a role', async () => {
  const seen = await deps.db.connection().execute(async (connection) => {
    await sql`begin`.execute(connection);
    await sql`set local role tocsin_app`.execute(connection);
    const { rows: found } = await sql<{ n: number }>`select count(*)::int as n from agents`.execute(connection);
    await sql`rollback`.execute(connection);
    return found[0]!.n;
  });
  expect(seen).toBe(0);
});

test('the roles own no tables, are not superusers and cannot bypass row-level security', async () => {
  const strong = await selectIn(
    deps.db,
  )`select rolname from pg_roles where rolname in ('tocsin_app', 'tocsin_system') and (rolsuper or rolbypassrls or rolcanlogin or oid in (select relowner from pg_class))`;
  expect(strong).toEqual([]);
});

const idsByTable: string[][] = [];
for (const { name } of await selectIn(deps.db)<{ name: string }>`
  select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'id' and table_name = any(${tenantTables.map(({ name: table }) => table)})`) {
  const rows = await selectIn(deps.db)<{ id: string }>`
    select id::text as id from ${sql.table(name)} where id::text = any(${filled.samples})`;
  idsByTable.push(rows.map(({ id }) => id));
}
/** By the path before the id: the records that the owner finds there, and the others of their tables. */
const idsByPrefix = new Map<string, string[]>();
for (const { method, path } of ofOrganizations) {
  const prefix = path.slice(0, path.indexOf('{id}'));
  if (method !== 'GET' || path !== `${prefix}{id}`) continue;
  const found = new Set<string>();
  for (const id of filled.samples) if ((await owner.call('GET', urlFor(path, id))).status === 200) found.add(id);
  const ofTables = idsByTable.filter((ids) => ids.some((id) => found.has(id))).flat();
  if (found.size > 0) idsByPrefix.set(prefix, [...new Set([...found, ...ofTables])]);
}

// Row-level security, which the tests above try alone, hides rows only. What the filters hide without it stays hidden with both.
describe('with query filters only', () => {
  beforeAll(async () => {
    const tables = tenantTables.map(
      ({ name }) => `alter table ${name} no force row level security, disable row level security`,
    );
    await runStatements(url, tables.join(';'));
  });

  test.each(ofOrganizations.filter(({ path }) => path.includes('{id}')))(
    '$method $path returns 404 for a record of another organization',
    async ({ method, path }) => {
      for (const id of idsByPrefix.get(path.slice(0, path.indexOf('{id}'))) ?? filled.samples) {
        const answer = await stranger.call(method, urlFor(path, id), bodyFor(method, path));
        // A key's id is not a UUID. Other routes reject it with 400 before they look anything up.
        const expected = uuidPattern.test(id) ? [404] : [404, 400];
        expect(expected, `${id}: ${JSON.stringify(answer.body)}`).toContain(answer.status);
      }
    },
  );

  test.each(ownLists)('GET %s returns nothing of another organization, and something to its owner', async (path) => {
    const [theirs, own] = [await stranger.call('GET', path), await owner.call('GET', path)];
    const [seen, held] = [JSON.stringify(theirs.body), JSON.stringify(own.body)];
    expect([theirs.status, own.status]).toEqual([200, 200]);
    for (const { id } of own.body.objects)
      if (!/^(marking-definition|identity)--/.test(id)) expect(seen).not.toContain(id);
    expect(seen).not.toContain(filled.mark);
    if (path.includes('objects') && path.includes('all')) expect(held).toContain(filled.mark);
  });

  test.each(ofOrganizations.filter(({ method, path }) => method === 'GET' && !path.includes('{')))(
    'GET $path returns nothing of another organization',
    async ({ path }) => {
      const { status, body } = await stranger.call('GET', withQuery[path] ? `${path}?${withQuery[path]}` : path);
      expect(status).toBe(200);
      for (const text of [...filled.ids, owner.id, filled.mark]) expect(JSON.stringify(body)).not.toContain(text);
    },
  );
});
