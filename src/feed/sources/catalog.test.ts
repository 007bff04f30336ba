import { beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../../test/support/harness.ts';
import { toCanonicalUrl } from '../formats/rss/canonical-url.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});

test('creates each catalog source from its name alone, and lets given fields override the catalog', async () => {
  const org = await app.newOrg();
  const { sources } = (await org.call('GET', '/api/feed/catalogue')).body;
  expect(sources.length).toBeGreaterThanOrEqual(25);
  expect(new Set(sources.map(({ url }: { url: string }) => toCanonicalUrl(url))).size).toBe(sources.length);
  for (const { name, title, ...known } of sources) {
    expect(known.url).toMatch(/^https:\/\//);
    const { status, body } = await org.call('POST', '/api/feed/sources', { catalogue: name });
    expect(status, name).toBe(200);
    expect(body).toMatchObject({
      ...known,
      name: `${known.publisher}: ${title}`,
      visibility: 'private',
      enabled: true,
      lastPullAt: null,
    });
  }
  const changed = await org.call('POST', '/api/feed/sources', {
    catalogue: 'cisa-kev',
    name: 'Mine',
    tlp: 'GREEN',
    enabled: false,
  });
  expect(changed.body).toMatchObject({ name: 'Mine', kind: 'kev', tlp: 'GREEN', enabled: false });
});

test('returns 400 with the field for an unknown catalog name and for a missing kind, name or address', async () => {
  const org = await app.newOrg();
  const pointers = async (body: object) =>
    (await org.call('POST', '/api/feed/sources', body)).body.errors.map(({ pointer }: { pointer: string }) => pointer);
  expect(await pointers({ catalogue: 'nobody' })).toEqual(['/catalogue']);
  expect(await pointers({})).toEqual(['/kind', '/name', '/url']);
});
