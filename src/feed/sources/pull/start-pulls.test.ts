import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { kevCatalogue, kevRows } from '../../../../test/support/feed/kev-source.ts';
import { startServer } from '../../../../test/support/feed/source-server.ts';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { acrossOrgs, queryRow } from '../../../platform/db/db.ts';
import type { SourceKey } from '../../ingestion/source-row.ts';
import { claimSource, readSource } from '../sources.store.ts';
import { keepClaim } from './start-pulls.ts';

const app = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });
const { db } = app.deps;
const server = await startServer();
afterAll(server.stop);

const newSource = async (org: TestOrg): Promise<SourceKey> => {
  const input = { kind: 'kev', name: 'KEV', url: `${server.base}/${org.id}` };
  const { body } = await org.call('POST', '/api/feed/sources', input);
  return { organization_id: org.id, id: body.id };
};
const claim = (source: SourceKey, worker: string) => acrossOrgs(db, (tx) => claimSource(tx, source, worker));
const leaseSeconds = async (id: string): Promise<number> => {
  const query = sql<{ n: number }>`
    select extract(epoch from lease_until - clock_timestamp())::float as n from feed_sources where id = ${id}`;
  return (await acrossOrgs(db, (tx) => queryRow(tx, query)))!.n;
};
const endLease = (id: string) =>
  acrossOrgs(db, (tx) =>
    sql`update feed_sources set lease_until = clock_timestamp() - interval '1 second' where id = ${id}`.execute(tx),
  );

test('keeps the lease of a pull in progress, and lets a source of a dead worker go within half a minute', async () => {
  const source = await newSource(await app.newOrg());
  const claimed = (await claim(source, 'first'))!;
  expect(await leaseSeconds(source.id)).toBeLessThanOrEqual(30);
  // As after a pause of the whole process: nobody else has claimed the source meanwhile.
  await endLease(source.id);
  let isHeld = false;
  await keepClaim(
    app.deps,
    claimed,
    async () => {
      await expect.poll(() => leaseSeconds(source.id)).toBeGreaterThan(25);
      isHeld = (await claim(source, 'second')) === undefined;
    },
    20,
  );
  expect(isHeld).toBe(true);
  // A killed worker renews nothing, so its lease ends.
  await endLease(source.id);
  expect(await claim(source, 'second')).toMatchObject({ id: source.id, worker: 'second' });
  await keepClaim(app.deps, claimed, () => new Promise((done) => setTimeout(done, 200)), 20);
  expect(await acrossOrgs(db, (tx) => readSource(tx, source))).toMatchObject({ worker: 'second' });
});

test('a pull that lost its source to another worker changes nothing', async () => {
  const org = await app.newOrg();
  const source = await newSource(org);
  const reached = Promise.withResolvers<void>();
  const answers = Promise.withResolvers<void>();
  server.routes.set(`/${org.id}`, async (response) => {
    reached.resolve();
    await answers.promise;
    response.end(JSON.stringify(kevCatalogue(1, kevRows(3))));
  });
  const pulling = org.call('POST', `/api/feed/sources/${source.id}/pull`);
  await reached.promise;
  await endLease(source.id);
  expect(await claim(source, 'second')).toMatchObject({ worker: 'second' });
  answers.resolve();
  expect((await pulling).status).toBe(409);
  expect((await org.call('GET', '/items')).body.total).toBe(0);
});
