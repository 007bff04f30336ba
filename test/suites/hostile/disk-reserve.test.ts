import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createDiskGuard } from '../../../src/platform/lib/storage/disk-guard.ts';
import { pullLoop } from '../../../src/feed/sources/pull/start-pulls.ts';
import { startApp, type TestApp, type TestOrg } from '../../support/harness.ts';
import { until } from '../../support/program.ts';
import { mountSmallDisk, unmountSmallDisk } from '../../support/small-disk.ts';

const mounted = await startApp({ env: { TOCSIN_DISK_RESERVE_BYTES: '2000000' } });
const folder = join(mounted.dataDir, 'logs');

mkdirSync(folder, { recursive: true });
const isMounted = mountSmallDisk(folder, '4m');
afterAll(() => {
  if (isMounted) unmountSmallDisk(folder);
});

const sendLog = (org: TestOrg) => org.call('POST', '/api/logs/auth', '{"user":"ada"}');
const readiness = async ({ app }: TestApp) => (await app.inject({ url: '/readyz' })).json();

/** Expects that everything that ingests is refused, and that the rest works. */
async function expectStopped(service: TestApp, org: TestOrg): Promise<void> {
  const refused = await sendLog(org);
  expect(refused.body).toMatchObject({ status: 507, code: 'insufficient_storage' });
  expect([refused.headers['content-type'], refused.headers['retry-after']]).toEqual(['application/problem+json', '60']);
  const item = await org.call('POST', '/api/feed/items', { title: 'A report', text: 'A report with some words.' });
  const sources = await org.call('GET', '/api/feed/sources');
  const pull = await org.call('POST', `/api/feed/sources/${org.id}/pull`);
  expect([item.status, sources.status, pull.status]).toEqual([507, 200, 507]);
  // Every shipper keeps its events after a 429.
  const shipped = await org.call('POST', '/loki/api/v1/push', { streams: [{ stream: {}, values: [['1', 'x']] }] });
  expect([shipped.status, shipped.headers['retry-after']]).toEqual([429, '60']);
  expect(await readiness(service)).toEqual({ status: 'degraded', reasons: [expect.stringMatching(/bytes are free/)] });
  const metrics = (await service.app.inject({ url: '/metrics' })).payload;
  expect(metrics).toContain('tocsin_ingestion_stopped 1');
}

test('stops ingestion at the reserve (here one larger than the disk)', async () => {
  const service = await startApp({ env: { TOCSIN_DISK_RESERVE_BYTES: String(Number.MAX_SAFE_INTEGER) } });
  await expectStopped(service, await service.newOrg());
});

test.skipIf(!isMounted)(
  'stops ingestion while a small disk has no more than the reserve, and continues without a restart (needs the right to mount)',
  async () => {
    const org = await mounted.newOrg();
    expect([(await sendLog(org)).status, await readiness(mounted)]).toEqual([200, { status: 'ok' }]);
    const stored = readdirSync(join(folder, org.id, 'auth'));
    const filler = join(folder, 'filler');
    writeFileSync(filler, Buffer.alloc(3_000_000));
    // The free space is as of the last second.
    const isReady = async () => (await readiness(mounted)).status === 'ok';
    await until(
      async () => !(await isReady()),
      () => 'ingestion does not stop',
    );
    await expectStopped(mounted, org);
    expect(readdirSync(join(folder, org.id, 'auth'))).toEqual(stored);
    rmSync(filler);
    await until(isReady, () => 'ingestion does not continue');
    const answer = await org.call('POST', '/api/logs/auth', '{"user":"bob"}');
    expect([answer.status, answer.body.accepted]).toEqual([200, 1]);
    expect((await org.call('GET', '/api/logs')).body.datasets[0]).toMatchObject({ name: 'auth', events: 2 });
  },
);

test('scheduled pulls wait for space', async () => {
  const stop = new AbortController();
  let checks = 0;
  const space = createDiskGuard({ folders: [mounted.dataDir], reserveBytes: Number.MAX_SAFE_INTEGER });
  const hasSpace = async () => {
    // Every one of the three lanes asks once, and finds none.
    if (++checks === 3) stop.abort();
    return space.hasSpace();
  };
  const claimed = {
    get db(): never {
      throw new Error('a source was claimed');
    },
  };
  const failures: unknown[] = [];
  const log = { ...mounted.deps.log, error: (failure: unknown) => failures.push(failure) } as never;
  await pullLoop({ ...mounted.deps, db: claimed as never, log, diskGuard: { ...space, hasSpace } }, stop.signal);
  expect([checks, failures]).toEqual([3, []]);
});
