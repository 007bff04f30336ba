import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startApp } from '../../support/harness.ts';
import { mountSmallDisk, unmountSmallDisk } from '../../support/small-disk.ts';

const { newOrg, deps } = await startApp();
const org = await newOrg();
const folder = deps.segmentStore.folderOf(org.id);
mkdirSync(folder, { recursive: true });

const isMounted = mountSmallDisk(folder, '512k');
afterAll(() => {
  if (isMounted) unmountSmallDisk(folder);
});

test.skipIf(!isMounted)(
  'events on a full disk are a 507, and nothing of them is kept (needs the right to mount)',
  async () => {
    const send = (bytes: number) =>
      org.call(
        'POST',
        '/api/logs/auth',
        JSON.stringify({ a: 'x'.repeat(1000), n: bytes })
          .concat('\n')
          .repeat(bytes / 1000),
      );
    expect((await send(50_000)).status).toBe(200);
    const before = readdirSync(join(folder, 'auth'));
    const full = await send(3_000_000);
    expect([full.status, full.body.code, full.headers['retry-after']]).toEqual([507, 'insufficient_storage', '60']);
    expect(full.headers['content-type']).toBe('application/problem+json');
    expect(readdirSync(join(folder, 'auth'))).toEqual(before);
    expect((await send(60_000)).status).toBe(200);
  },
);

test.skipIf(!isMounted)('an erasure that the disk has no room for is a 507 and keeps the events', async () => {
  await org.call('POST', '/api/logs/mail', JSON.stringify({ who: 'somebody@example.org', text: 'x' }));
  const filler = join(folder, 'filler');
  expect(() => writeFileSync(filler, Buffer.alloc(2_000_000))).toThrow(/ENOSPC/);
  const erased = await org.call('POST', '/api/privacy/erase', { field: 'who', value: 'somebody@example.org' });
  expect([erased.status, erased.body.code]).toEqual([507, 'insufficient_storage']);
  rmSync(filler);
  const again = await org.call('POST', '/api/privacy/erase', { field: 'who', value: 'somebody@example.org' });
  expect([again.status, again.body.logs]).toEqual([200, 1]);
});
