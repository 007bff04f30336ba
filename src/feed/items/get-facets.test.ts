import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { reportSource } from '../../../test/support/feed/report-source.ts';
import { startApp } from '../../../test/support/harness.ts';

const app = await startApp({ clock: () => new Date('2024-01-05T10:00:00.000Z') });

test('counts the items that each value of a filter would list', async () => {
  const org = await app.newOrg();
  await (await reportSource(app, org, { name: 'One' })).write({ 1: {}, 2: {}, 3: { revoked: true } });
  await (await reportSource(app, org, { name: 'Two' })).write({ 4: {} });
  const { items } = await callOk(org, 'GET', '/items?perPage=100');
  await callOk(org, 'PUT', `/items/${items[0].id}/override`.replace('/items', '/api/feed/items'), {
    severity: 'critical',
  });
  const totals = new Map<string, Promise<{ total: number }>>();
  const total = async (query: string): Promise<number> => {
    totals.set(query, totals.get(query) ?? callOk(org, 'GET', `/items?${query}`));
    return (await totals.get(query)!).total;
  };
  for (const filter of [
    '',
    'severity=none',
    'status=active',
    'source=one',
    'source=Two&status=retracted',
    'severity=critical&source=two',
    'platform=windows',
    'q=report',
    'q=r2.example',
    'q=report&severity=critical&source=two',
    'indicator=r2.example',
    'indicator=R2[.]example&severity=none',
    'updatedSince=2024-01-05T00:00:00Z&q=report',
    'duplicates=hide',
    'duplicates=hide&severity=critical',
    'duplicates=hide&source=one',
    'duplicates=hide&q=report&status=active',
    'actor=APT29',
    'relevancyMode=relevant',
  ]) {
    const facets = await callOk(org, 'GET', `/api/feed/facets?${filter}`);
    expect(facets.total, filter).toBe(await total(filter));
    const without = (name: string) => filter.split('&').filter((part) => part !== '' && !part.startsWith(`${name}=`));
    const expectEach = async (name: string, counts: [string, number][]) => {
      for (const [value, n] of counts)
        expect(n, `${filter}: ${name} ${value}`).toBe(
          await total([...without(name), `${name}=${encodeURIComponent(value)}`].join('&')),
        );
    };
    await expectEach('severity', Object.entries(facets.severity));
    await expectEach('status', Object.entries(facets.status));
    if (!filter.includes('duplicates'))
      await expectEach(
        'source',
        facets.source.map(({ name, items: n }: { name: string; items: number }) => [name, n]),
      );
    expect(facets.platform.windows).toBe(await total([...without('platform'), 'platform=windows'].join('&')));
  }
  expect((await org.call('GET', '/api/feed/facets?severity=huge')).status).toBe(400);
  expect((await callOk(await app.newOrg(), 'GET', '/api/feed/facets')).total).toBe(0);
});

test('says which names are sources and which are publishers', async () => {
  const org = await app.newOrg();
  await (await reportSource(app, org, { name: 'Daily list', publisher: 'Acme CERT' })).write({ 1: {} });
  await (await reportSource(app, org, { name: 'Other list', publisher: 'Acme CERT' })).write({ 2: {} });
  await (await reportSource(app, org, { name: 'Blog', publisher: 'Blog' })).write({ 3: {} });
  const readSources = async (query: string) => (await callOk(org, 'GET', `/api/feed/facets?${query}`)).source;
  const expected = [
    { name: 'Acme CERT', type: 'publisher', items: 2 },
    { name: 'Blog', type: 'source', items: 1 },
    { name: 'Daily list', type: 'source', items: 1 },
    { name: 'Other list', type: 'source', items: 1 },
  ];
  expect(await readSources('')).toEqual(expected);
  expect(await readSources('source=blog')).toEqual(expected);
});

test('counts what a misspelled search lists', async () => {
  const org = await app.newOrg();
  await (await reportSource(app, org)).write({ 1: { words: 'quillstone' }, 2: {} });
  const found = async (query: string) => {
    const [list, facets, stats] = await Promise.all(
      ['/items', '/api/feed/facets', '/stats'].map((path) => callOk(org, 'GET', `${path}?${query}`)),
    );
    return [list.total, facets.total, facets.status.active, stats.totalItems, stats.recentItems.length];
  };
  expect(await found('q=quilstone')).toEqual([1, 1, 1, 1, 1]);
  expect(await found('q=quilstone&status=retracted')).toEqual([0, 0, 0, 0, 0]);
  expect(await found('q=quillstone&status=retracted')).toEqual([0, 0, 1, 0, 0]);
});

test('says that the numbers of a frequent text are estimates, as the list does', async () => {
  const org = await app.newOrg();
  const source = await reportSource(app, org);
  const count = 8_000;
  await source.write(Object.fromEntries(Array.from({ length: count }, (_, number) => [number + 1, {}])));
  const [list, facets, stats] = await Promise.all(
    ['/items', '/api/feed/facets', '/stats'].map((path) => callOk(org, 'GET', `${path}?q=report`)),
  );
  expect(list.outputs.totalIsEstimated).toBe(true);
  for (const { outputs } of [facets, stats]) expect(outputs).toEqual({ totalIsEstimated: true });
  for (const total of [list.total, facets.total, stats.totalItems])
    expect(Math.abs(total / count - 1)).toBeLessThan(0.3);
  for (const query of ['', '?q=r7.example'])
    for (const path of ['/api/feed/facets', '/stats'])
      expect((await callOk(org, 'GET', `${path}${query}`)).outputs, path).toBeUndefined();
});
