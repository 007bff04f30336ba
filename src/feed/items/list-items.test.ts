import { describe, expect, test } from 'vitest';
import { gunzipSync, brotliDecompressSync } from 'node:zlib';
import { startApp } from '../../../test/support/harness.ts';
import { fileSource, kevCatalogue, kevRow } from '../../../test/support/feed/kev-source.ts';
import { FeedItem, FeedList, FeedStats } from '../model/item.schema.ts';
import { platforms } from '../model/platforms.ts';

const products = ['Windows Server', 'Office', 'Gadget'];
const rows = Array.from({ length: 45 }, (_, index) =>
  kevRow(index + 1, {
    vendorProject: 'Microsoft',
    product: products[index % 3]!,
    knownRansomwareCampaignUse: index % 5 === 0 ? 'Known' : 'Unknown',
  }),
);
const app = await startApp();
const org = await app.newOrg();
const source = await fileSource(app, org, { kind: 'kev', name: 'Known Bugs', publisher: 'Ägency' });
await source.pull(kevCatalogue(1, rows));
const changedRows = rows.slice(0, 7).map((row) => ({ ...row, notes: 'changed' }));
await source.pull(kevCatalogue(2, [...changedRows, ...rows.slice(7)]));

const list = async (query = ''): Promise<FeedList> => {
  const { status, body } = await org.call('GET', `/items${query}`);
  expect(status).toBe(200);
  return body as FeedList;
};

describe('GET /items', () => {
  test('lists all items, newest first, with all fields', async () => {
    const body = await list();
    expect(FeedList.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      total: 45,
      page: 1,
      perPage: 20,
      hasNext: true,
      validations: { filters: { applied: {}, unknown: [] }, warnings: [], profile: 'none' },
    });
    for (const item of body.items) {
      expect(FeedItem.parse(item)).toEqual(item);
      expect(Object.values(item).includes(undefined)).toBe(false);
      const nullFields = Object.entries(item).filter(([, value]) => value === null);
      expect(nullFields.map(([name]) => name)).toEqual(['tenantOverrides']);
    }
    const keys = body.items.map(({ addedToFeedAt, id }) => `${addedToFeedAt} ${id}`);
    expect(keys).toEqual(keys.toSorted().toReversed());
  });

  test('splits the list into pages without gaps or overlaps', async () => {
    for (const perPage of [1, 7, 45, 100]) {
      const seen: string[] = [];
      for (let page = 1; ; page += 1) {
        const body = await list(`?page=${page}&perPage=${perPage}`);
        expect(body.items.length).toBe(Math.min(perPage, 45 - (page - 1) * perPage));
        seen.push(...body.items.map(({ id }) => id));
        if (!body.hasNext) break;
      }
      expect(new Set(seen).size).toBe(45);
      expect(seen).toEqual((await list('?perPage=100')).items.map(({ id }) => id));
    }
  });

  test.each(['2', '46', '99999999999', '9'.repeat(400)])('returns an empty page past the end (%s)', async (page) => {
    const body = await list(`?page=${page}&perPage=100`);
    expect(body).toMatchObject({ items: [], total: 45, perPage: 100, hasNext: false });
    expect(typeof body.page).toBe('number');
  });

  test.each([
    'page=0',
    'page=-1',
    'page=1.0',
    'page=1e2',
    'page=%201',
    'page=%2B1',
    'page=',
    'page=%D9%A1',
    'page=1&page=2',
    'perPage=0',
    'perPage=101',
    'perPage=',
    'perPage=ten',
    'severity=',
    'severity=HIGH',
    'severity=high&severity=low',
    'status=',
    'status=gone',
    'relevancyMode=',
    'relevancyMode=some',
    'platform=a&platform=b',
    'source=a&source=b',
  ])('returns 400 with one error and its pointer for %s', async (query) => {
    const { status, body } = await org.call('GET', `/items?${query}`);
    expect(status).toBe(400);
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([`query/${query.split('=')[0]}`]);
  });

  test.each([
    ['severity=critical', 9],
    ['severity=high', 36],
    ['severity=low', 0],
    ['status=corrected', 7],
    ['status=active', 38],
    ['status=retracted', 0],
    ['platform=windows', 15],
    ['platform=WIN', 15],
    ['platform=m365', 15],
    ['platform=linux', 0],
    ['platform=', 45],
    ['source=', 45],
    ['source=%C3%A4GENCY', 45],
    ['source=known%20bugs', 45],
    ['source=known', 0],
    ['severity=critical&status=corrected&platform=windows&source=known+bugs', 1],
    ['relevancyMode=all', 45],
    ['page=01', 45],
  ])('filters by %s to %i items', async (query, total) => {
    const body = await list(`?${query}&perPage=100`);
    expect(body.total).toBe(total);
    expect(body.items).toHaveLength(total);
  });

  test('returns matching totals and items for every combination of filters', async () => {
    const all = (await list('?perPage=100')).items;
    for (const severity of ['', 'critical', 'high', 'none'])
      for (const status of ['', 'active', 'corrected'])
        for (const platform of ['', 'windows', 'office-suite', 'ios']) {
          const query = new URLSearchParams(
            Object.entries({ severity, status, platform }).filter(([, value]) => value),
          );
          const body = await list(`?perPage=100&${query}`);
          const expected = all.filter(
            ({ event, classification }) =>
              (!severity || event.severity === severity) &&
              (!status || event.status === status) &&
              (!platform || (classification.platforms as string[]).includes(platform)),
          );
          expect(body.items).toEqual(expected);
          expect(body.total).toBe(expected.length);
        }
  });

  test('reports unknown parameters and values, and a missing profile', async () => {
    const body = await list('?platform=amiga&relevancyMode=relevant&sort=up&foo=1&foo=2');
    expect(body).toMatchObject({ total: 0, items: [] });
    expect(body.validations).toEqual({
      filters: { applied: { platform: 'amiga', relevancyMode: 'relevant' }, unknown: ['foo', 'sort'] },
      warnings: [
        { code: 'unknown_platform', message: 'Unknown platform `amiga`: no item matches it.', param: 'platform' },
        {
          code: 'no_profile',
          message: 'No relevance profile is configured, so `relevant` returns all items.',
          param: 'relevancyMode',
        },
      ],
      profile: 'none',
    });
    expect((await list('?relevancyMode=relevant')).total).toBe(45);
  });

  test('returns the same bytes in every encoding, and 304 for a known ETag', async () => {
    const authorization = `Bearer ${org.key}`;
    const get = (headers: Record<string, string>) =>
      app.app.inject({ url: '/items?perPage=50', headers: { authorization, ...headers } });
    const plain = await get({});
    const gzip = await get({ 'accept-encoding': 'gzip' });
    const br = await get({ 'accept-encoding': 'gzip, br' });
    expect([plain, gzip, br].map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'gzip', 'br']);
    expect(gunzipSync(gzip.rawPayload)).toEqual(plain.rawPayload);
    expect(brotliDecompressSync(br.rawPayload)).toEqual(plain.rawPayload);
    expect(plain.headers['vary']).toMatch(/accept-encoding/i);
    const etag = String(plain.headers['etag']);
    for (const tag of [etag, `"other", ${etag}`, '*', etag.replace('W/', '')]) {
      const cached = await get({ 'if-none-match': tag });
      expect([cached.statusCode, cached.payload]).toEqual([304, '']);
    }
    expect((await get({ 'if-none-match': '"other"' })).statusCode).toBe(200);
    expect((await get({ 'accept-encoding': 'gzip;q=0, identity' })).headers['content-encoding']).toBeUndefined();
  });
});

test('returns statistics of the items that GET /items lists', async () => {
  const { body } = await org.call('GET', '/stats');
  expect(FeedStats.parse(body)).toEqual(body);
  const all = (await list('?perPage=100')).items;
  expect(body.totalItems).toBe(45);
  expect(body.severityBreakdown).toEqual({ critical: 9, high: 36, medium: 0, low: 0, none: 0 });
  const noItems = Object.fromEntries(platforms.map((platform) => [platform, 0]));
  expect(body.platformBreakdown).toEqual({ ...noItems, windows: 15, 'office-suite': 15 });
  expect(body.sourcePublishers).toEqual(['Ägency']);
  expect(body.recentItems).toEqual(
    all.slice(0, 10).map(({ id, event, source: { publishTime } }) => ({
      id,
      title: event.title,
      severity: event.severity,
      publishTime,
    })),
  );
  const { headers } = await org.call('GET', '/stats');
  expect((await org.call('GET', '/stats', undefined, { 'if-none-match': String(headers['etag']) })).status).toBe(304);
});

test('returns all fields for an empty feed', async () => {
  const empty = await app.newOrg();
  const noPage = { items: [], total: 0, page: 1, perPage: 20, hasNext: false };
  expect((await empty.call('GET', '/items')).body).toMatchObject(noPage);
  const noStats = { totalItems: 0, sourcePublishers: [], recentItems: [] };
  expect((await empty.call('GET', '/stats')).body).toMatchObject(noStats);
});

test('shows a pull in the next request, with a new ETag', async () => {
  const reader = await app.newOrg();
  const own = await fileSource(app, reader, { kind: 'kev' });
  const before = await reader.call('GET', '/items');
  await own.pull(kevCatalogue(1, [kevRow(1)]));
  const after = await reader.call('GET', '/items');
  expect([before.body.total, after.body.total]).toEqual([0, 1]);
  expect(after.headers['etag']).not.toBe(before.headers['etag']);
});

test('returns one item with its versions, 404 for an unknown id and 400 for a malformed one', async () => {
  const [item] = (await list('?status=corrected&perPage=1')).items;
  const { body, status } = await org.call('GET', `/items/${item!.id.toUpperCase()}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ ...item, related: [], versions: [{ version: 2 }, { version: 1 }] });
  expect((await org.call('GET', '/items/00000000-0000-0000-0000-000000000000')).status).toBe(404);
  expect((await org.call('GET', '/items/nonsense')).body.errors[0].pointer).toBe('path/id');
});

test('returns 403 for a key without feed:read, and 401 without a key', async () => {
  const other = await app.newKey(org, ['detections:read']);
  for (const url of ['/items', '/stats', '/api/feed/sources']) {
    const { status, body } = await other.call('GET', url);
    expect([status, body.detail]).toEqual([403, 'The key lacks the scope feed:read.']);
    expect((await app.app.inject({ method: 'GET', url: `${url}?page=x` })).statusCode).toBe(401);
  }
});
