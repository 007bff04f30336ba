import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { createFeedTools } from '../../app/build-deps.ts';
import { reportSource } from '../../../test/support/feed/report-source.ts';
import { scoreNextBatch } from '../relevance/score-items.ts';
import type { FeedItem, FeedList } from '../model/item.schema.ts';
import { itemStatuses, severities } from '../model/vocabulary.ts';

let now = new Date('2026-03-02T10:20:30.000Z');
const app = await startApp({ clock: () => now });

const read = async (org: TestOrg, query: string): Promise<FeedList> => {
  const { status, body } = await org.call('GET', `/items?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as FeedList;
};
const override = (org: TestOrg, id: string, body: unknown) => org.call('PUT', `/api/feed/items/${id}/override`, body);

const writer = ['feed:read', 'feed:write'] as const;
const severityOf = ({ event, tenantOverrides }: FeedItem): string => tenantOverrides?.severity ?? event.severity;
const publishers = ['Alder', 'Birch', 'Cedar'];
const statusOf = ({ event, tenantOverrides }: FeedItem): string => tenantOverrides?.status ?? event.status;
const ids = (items: FeedItem[]): string[] => items.map(({ id }) => id);

/** Checks lists, totals and statistics against a recount of the whole list. */
async function expectRecount(org: TestOrg, asOf = ''): Promise<FeedList> {
  const all = await read(org, `perPage=100${asOf}`);
  expect(all.items).toHaveLength(all.total);
  const expectList = async (query: string, matches: (item: FeedItem) => boolean): Promise<void> => {
    const part = await read(org, `${query}&perPage=100${asOf}`);
    expect(ids(part.items), query).toEqual(ids(all.items.filter(matches)));
    expect(part.total, query).toBe(part.items.length);
  };
  for (const severity of severities) await expectList(`severity=${severity}`, (item) => severityOf(item) === severity);
  for (const status of itemStatuses) await expectList(`status=${status}`, (item) => statusOf(item) === status);
  await expectList('status=active&severity=high', (item) => statusOf(item) === 'active' && severityOf(item) === 'high');
  await expectList('q=report&searchOrder=newest', () => true);
  const isRoot = (item: FeedItem): boolean => item.duplicateOf === undefined;
  await expectList('duplicates=hide', isRoot);
  for (const publisher of publishers) {
    const hasPublisher = ({ id }: FeedItem): boolean =>
      all.items.some((item) => (item.duplicateOf ?? item.id) === id && item.source.publisher === publisher);
    await expectList(`duplicates=hide&source=${publisher}`, (item) => isRoot(item) && hasPublisher(item));
    await expectList(
      `duplicates=hide&status=active&source=${publisher}`,
      (item) => isRoot(item) && hasPublisher(item) && statusOf(item) === 'active',
    );
  }
  // Reads the last page first, so that no page cursor is known.
  for (let page = Math.ceil(all.total / 3); page > 0; page -= 1) {
    const { items, total } = await read(org, `perPage=3&page=${page}${asOf}`);
    expect([ids(items), total], `page ${page}`).toEqual([ids(all.items.slice(page * 3 - 3, page * 3)), all.total]);
  }
  await expectList(
    'duplicates=hide&status=active&severity=high&q=report&searchOrder=newest',
    (item) => item.duplicateOf === undefined && statusOf(item) === 'active' && severityOf(item) === 'high',
  );
  if (asOf !== '') return all;
  const { body: stats } = await org.call('GET', '/stats');
  expect(stats.totalItems).toBe(all.total);
  for (const severity of severities)
    expect(stats.severityBreakdown[severity]).toBe(all.items.filter((item) => severityOf(item) === severity).length);
  expect(stats.recentItems.map((item: FeedItem & { severity: string }) => [item.id, item.severity])).toEqual(
    all.items.slice(0, 10).map((item) => [item.id, severityOf(item)]),
  );
  return all;
}

const overrideBody = fc.record(
  {
    severity: fc.constantFrom(null, 'none', 'high', 'critical'),
    status: fc.constantFrom(null, 'active', 'corrected', 'retracted'),
    relevance: fc.constantFrom(null, { verdict: 'relevant' }),
    note: fc.constantFrom(null, 'seen'),
  },
  { requiredKeys: [] },
);
const step = fc.oneof(
  fc.record({ who: fc.nat(1), item: fc.nat(20), body: overrideBody }),
  fc.record({ who: fc.nat(1), item: fc.nat(20), into: fc.option(fc.nat(20)) }),
  fc.record({
    source: fc.nat(2),
    number: fc.integer({ min: 1, max: 6 }),
    revoked: fc.boolean(),
    words: fc.string({ maxLength: 5 }),
  }),
);

/** Merges an item into another, or splits it off. The request may be rejected. */
async function move(org: TestOrg, { item, into }: { item: number; into: number | null }): Promise<void> {
  const { items } = await read(org, 'perPage=100');
  const idAt = (place: number): string => items[place % items.length]!.id;
  const path = `/api/feed/items/${idAt(item)}`;
  const { status, body } =
    into === null
      ? await org.call('POST', `${path}/split`, {})
      : await org.call('POST', `${path}/merge`, { into: idAt(into) });
  expect(status < 500, JSON.stringify(body)).toBe(true);
}

test('returns totals and statistics that equal a recount after any overrides and pulls, for past snapshots too', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 14 }), async (steps) => {
      const orgs = [await app.newOrg(writer), await app.newOrg(writer)] as const;
      const maker = await app.newOrg();
      const assigned = { visibility: 'shared', assignedTo: orgs.map(({ id }) => id) } as const;
      const sources = [
        await reportSource(app, maker, { ...assigned, publisher: 'Alder' }),
        await reportSource(app, orgs[0], { publisher: 'Birch' }),
        await reportSource(app, orgs[1], { publisher: 'Cedar' }),
      ];
      await sources[0]!.write({ 1: {}, 2: {}, 3: {}, 4: {} });
      await sources[1]!.write({ 1: {}, 5: {} });
      await sources[2]!.write({ 2: {} });
      const before: { org: TestOrg; asOf: string; list: FeedList }[] = [];
      for (const one of steps) {
        if ('body' in one) {
          const org = orgs[one.who]!;
          const { items } = await read(org, 'perPage=100');
          const { status, body } = await override(org, items[one.item % items.length]!.id, one.body);
          expect(status, JSON.stringify(body)).toBe(200);
        } else if ('into' in one) await move(orgs[one.who]!, one);
        else await sources[one.source]!.write({ [one.number]: { revoked: one.revoked, words: one.words } });
        const org = orgs['who' in one ? one.who : 0]!;
        const list = await read(org, 'perPage=100');
        before.push({ org, list, asOf: `&asOf=${list.outputs!.asOf}` });
      }
      for (const org of orgs) await expectRecount(org);
      for (const { org, asOf, list } of before.slice(-4)) expect(await expectRecount(org, asOf)).toEqual(list);
    }),
    { numRuns: 3 },
  );
});

async function setUp() {
  const [owner, org, other] = [await app.newOrg(), await app.newOrg(['feed:read', 'feed:write']), await app.newOrg()];
  const source = await reportSource(app, owner, { visibility: 'shared', assignedTo: [org.id, other.id] });
  await source.write({ 1: { words: 'Windows' }, 2: { words: 'Linux' } });
  const { items } = await read(org, '');
  return { owner, org, other, source, items, one: items[0]!.id, two: items[1]!.id };
}

test('changes the snapshot of the overriding organization only, and no item version', async () => {
  const { org, owner, other, one } = await setUp();
  const look = async (who: TestOrg) => {
    const answers = await Promise.all(['/items', '/stats', `/items/${one}`].map((url) => who.call('GET', url)));
    return answers.map(({ body, headers }) => [body, headers['etag']]);
  };
  const before = [await look(owner), await look(other)];
  const own = await org.call('GET', '/items');
  const item: FeedItem = own.body.items.find(({ id }: FeedItem) => id === one);
  const { type, normalizedValue } = item.iocs.domains[0]!;
  const { status, body } = await override(org, one, {
    severity: 'critical',
    status: 'corrected',
    tags: ['ours', 'ours', ' plant '],
    note: ' seen here ',
    relevance: { verdict: 'relevant', reason: 'our VPN' },
    indicators: [{ type, value: normalizedValue.toUpperCase().replace('.', '[.]'), status: 'false_positive' }],
  });
  expect([status, body.version, body.event]).toEqual([200, 1, item.event]);
  expect(body.tenantOverrides).toEqual({
    revision: expect.stringMatching(/^.{22}$/),
    severity: 'critical',
    status: 'corrected',
    tags: ['ours', 'plant'],
    note: 'seen here',
    indicators: [{ type, value: normalizedValue, status: 'false_positive' }],
    relevance: {
      verdict: 'relevant',
      score: 1,
      reasons: [{ kind: 'person', matched: 'our VPN', weight: 1 }],
      judgedBy: 'person',
      judgedAt: expect.any(String),
    },
    updatedAt: expect.any(String),
    updatedBy: expect.any(String),
  });
  const after = await org.call('GET', '/items');
  expect(after.headers['etag']).not.toBe(own.headers['etag']);
  expect(after.body.items.find(({ id }: FeedItem) => id === one).tenantOverrides).toEqual(body.tenantOverrides);
  expect([await look(owner), await look(other)]).toEqual(before);
  // A repeated value changes nothing, an absent field keeps its value, and null removes it.
  await override(org, one, { severity: 'critical' });
  expect((await org.call('GET', '/items')).headers['etag']).toBe(after.headers['etag']);
  await override(org, one, { severity: null, tags: null, indicators: null, relevance: null, status: null });
  expect((await org.call('GET', `/items/${one}`)).body.tenantOverrides).toMatchObject({ note: 'seen here' });
  expect((await override(org, one, { note: null })).body.tenantOverrides).toBeNull();
});

test('finds new and removed overrides with updatedSince', async () => {
  const { org, other, two } = await setUp();
  now = new Date(now.getTime() + 60_000);
  const since = `updatedSince=${now.toISOString()}`;
  expect((await read(org, since)).total).toBe(0);
  await override(org, two, { note: 'look' });
  expect(ids((await read(org, since)).items)).toEqual([two]);
  await override(org, two, { note: null });
  expect(ids((await read(org, since)).items)).toEqual([two]);
  expect((await read(other, since)).total).toBe(0);
});

test('prefers the verdict of the organization over the score of the rules', async () => {
  const { org, one, two } = await setUp();
  await org.call('PUT', '/api/feed/profile', { keywords: ['Linux'] });
  while (await scoreNextBatch(app.deps));
  const relevant = async (): Promise<string[]> => ids((await read(org, 'relevancyMode=relevant')).items);
  const byTitle = async (word: string): Promise<string> =>
    (await read(org, '')).items.find(({ event }) => event.title.includes(word))!.id;
  const [linux, windows] = [await byTitle('Linux'), await byTitle('Windows')];
  expect([linux, windows].toSorted()).toEqual([one, two].toSorted());
  expect(await relevant()).toEqual([linux]);
  const { relevance } = (await org.call('GET', `/items/${linux}`)).body.tenantOverrides;
  expect(relevance).toMatchObject({ verdict: 'relevant', score: 0.6, judgedBy: 'rules' });
  expect(relevance.reasons[0]).toMatchObject({ kind: 'keyword', matched: 'Linux' });
  const { asOf } = (await read(org, 'relevancyMode=relevant')).outputs!;
  await override(org, linux, { relevance: { verdict: 'irrelevant' } });
  await override(org, windows, { relevance: { verdict: 'relevant' } });
  expect(await relevant()).toEqual([windows]);
  expect(ids((await read(org, `relevancyMode=relevant&asOf=${asOf}`)).items)).toEqual([linux]);
  await override(org, linux, { relevance: null });
  expect((await relevant()).toSorted()).toEqual([linux, windows].toSorted());
});

test('returns 400 with a pointer for an invalid override', async () => {
  const { org, one } = await setUp();
  const indicators = [{ type: 'domain', value: 'elsewhere.example', status: 'revoked' }];
  for (const [body, pointer] of [
    [{ severity: 'huge' }, '/severity'],
    [{ tags: [] }, '/tags'],
    [{ note: ' ' }, '/note'],
    [{ relevance: { verdict: 'exposed' } }, '/relevance/verdict'],
    [{ indicators }, '/indicators/0/value'],
    [{ colour: 'red' }, '/colour'],
  ] as const) {
    const answer = await override(org, one, body);
    expect([answer.status, answer.body.errors?.[0]?.pointer]).toEqual([400, pointer]);
  }
  expect((await override(await app.newOrg(), one, { note: 'x' })).status).toBe(404);
});

test('returns items to agents with overrides applied', async () => {
  const [org, other] = [await app.newOrg(), await app.newOrg()];
  const source = await reportSource(app, org, { visibility: 'shared', tlp: 'CLEAR' });
  await source.write({ 901: { words: 'zanzibar' } });
  const found = async ({ id }: TestOrg) => (await createFeedTools(app.deps)(id).searchFeed('zanzibar', 5)) as object;
  const { items } = await read(other, 'q=zanzibar');
  expect((await override(other, items[0]!.id, { severity: 'critical', status: 'retracted' })).status).toBe(200);
  expect(await found(other)).toMatchObject({ items: [{ severity: 'critical', status: 'retracted' }] });
  expect(await found(org)).toMatchObject({ items: [{ severity: items[0]!.event.severity, status: 'active' }] });
});
