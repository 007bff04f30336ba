import { expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';

const app = await startApp();

test('creates each catalog source from its name alone, and lets given fields override the catalog', async () => {
  const org = await app.newOrg();
  const { sources } = (await org.call('GET', '/api/feed/catalogue')).body;
  for (const { name, title, brings, sample, ...known } of sources) {
    expect([brings, sample, known.license]).not.toContain('');
    expect(sample !== 'none' || known.kind === 'rss', name).toBe(true);
    const { status, body } = await org.call('POST', '/api/feed/sources', { catalogue: name });
    expect(status, name).toBe(200);
    const defaults = { visibility: 'private', enabled: true, lastPullAt: null };
    expect(body).toMatchObject({ ...known, ...defaults, name: `${known.publisher}: ${title}` });
  }
  const own = { name: 'Mine', tlp: 'GREEN', enabled: false };
  const changed = await org.call('POST', '/api/feed/sources', { catalogue: 'cisa-kev', ...own });
  expect(changed.body).toMatchObject({ ...own, kind: 'kev' });
});

test('returns 400 with the field for an unknown catalog name and for a missing kind, name or address', async () => {
  const org = await app.newOrg();
  const pointers = async (body: object) =>
    (await org.call('POST', '/api/feed/sources', body)).body.errors.map(({ pointer }: { pointer: string }) => pointer);
  expect(await pointers({ catalogue: 'nobody' })).toEqual(['/catalogue']);
  const { body } = await org.call('POST', '/api/feed/sources', { catalogue: 'cisa-kevv' });
  expect(body.detail).toBe('The catalog has no source "cisa-kevv"; did you mean cisa-kev?');
  expect(await pointers({})).toEqual(['/kind', '/name', '/url']);
});
