import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startApp } from '../../../test/support/harness.ts';
import type { FeedItem, FeedStats } from '../model/item.schema.ts';
import { filterFields } from './feed-filters.ts';

const app = await startApp();
const org = await app.newOrg();
const post = async (title: string, text: string): Promise<string> =>
  (await callOk(org, 'POST', '/api/feed/items', { title, text, tlp: 'CLEAR' })).id;

const ids = {
  bear: await post('Bears', 'The group Cozy Bear deployed the WellMess malware. Its server was bear-host[.]top.'),
  panda: await post('Pandas', 'Stone Panda used Mimikatz on Windows servers. The server was panda-host[.]top.'),
  plain: await post('Others', 'An unknown group exploited CVE-2024-21887 from plain-host[.]top.'),
};
await callOk(org, 'PUT', `/api/feed/items/${ids.panda}/override`, { severity: 'critical' });

const filters: [query: string, expected: (keyof typeof ids)[]][] = [
  ['', ['plain', 'panda', 'bear']],
  ['actor=APT29', ['bear']],
  ['actor=cozybear', ['bear']],
  ['actor=menuPass', ['panda']],
  ['malware=wellmess', ['bear']],
  ['tool=mimikatz', ['panda']],
  ['cve=cve-2024-21887', ['plain']],
  ['indicator=hxxp%3A%2F%2Fbear-host%5B.%5Dtop%2F', ['bear']],
  ['severity=critical', ['panda']],
  ['severity=critical&actor=APT10', ['panda']],
  ['q=server&duplicates=hide', ['panda', 'bear']],
  ['platform=nothing', []],
  ['source=nobody', []],
  ['duplicates=hide&severity=critical', ['panda']],
  ['updatedSince=2100-01-01T00:00:00Z', []],
];

test.each(filters)('every list, count and export applies %s', async (query, expected) => {
  const wanted = expected.map((name) => ids[name]);
  const listed = (await callOk(org, 'GET', `/items?searchOrder=newest&${query}`)).items as FeedItem[];
  expect(listed.map(({ id }) => id)).toEqual(wanted);
  expect((await callOk(org, 'GET', `/api/feed/facets?${query}`)).total).toBe(wanted.length);
  const stats = (await callOk(org, 'GET', `/stats?${query}`)) as FeedStats;
  expect(stats.recentItems.map(({ id }) => id)).toEqual(wanted);
  expect([stats.totalItems, stats.severityBreakdown.critical]).toEqual([
    wanted.length,
    expected.includes('panda') ? 1 : 0,
  ]);
  const hosts = expected.map((name) => `${name}-host.top`).toSorted();
  const blocked = await callOk(org, 'GET', `/api/feed/export/blocklist?type=domain&minConfidence=0&${query}`);
  expect(String(blocked).split('\n').filter(Boolean)).toEqual(hosts);
  const { objects = [] } = await callOk(org, 'GET', `/api/feed/export/stix?${query}`);
  const titles = objects
    .filter(({ type }: { type: string }) => type === 'report')
    .map(({ name }: { name: string }) => name);
  expect(titles).toEqual(listed.map(({ event }) => event.title));
  const csv = String(await callOk(org, 'GET', `/api/feed/export/csv?${query}`));
  const lines = csv.split('\r\n').slice(1, -1);
  expect(
    lines
      .filter((line) => line.includes(',domain,'))
      .map((line) => line.split(',')[0])
      .toSorted(),
  ).toEqual(hosts);
  const manifest = await callOk(org, 'GET', `/api/feed/export/misp/manifest.json?${query}`);
  expect(Object.values(manifest)).toHaveLength(wanted.length);
  for (const path of ['rss', 'feed.json']) {
    const text = JSON.stringify(await callOk(org, 'GET', `/api/feed/export/${path}?${query}`));
    for (const [name, id] of Object.entries(ids))
      expect(text.includes(id), `${path} ${name}`).toBe(wanted.includes(id));
  }
});

test('lists the entities of the items that match', async () => {
  const names = async (query: string): Promise<string[]> =>
    (await callOk(org, 'GET', `/api/feed/entities?${query}`)).entities.map(
      ({ type, name, items }: { type: string; name: string; items: number }) => `${type} ${name} ${items}`,
    );
  expect(await names('actor=Cozy%20Bear')).toEqual(['actor APT29 1', 'malware WellMess 1']);
  expect(await names('type=tool&actor=APT10')).toEqual(['tool Mimikatz 1']);
  expect(await names('type=tool&actor=APT10&q=x')).toEqual([]);
  expect(await names('severity=critical&limit=1')).toEqual(['actor menuPass 1']);
  expect(await names('platform=nothing')).toEqual([]);
});

test('pages of a filtered export continue', async () => {
  const first = await org.call('GET', '/api/feed/export/csv?q=server&limit=1');
  const next = /<([^>]+)>/.exec(String(first.headers['link']))![1]!;
  expect(next).toContain('q=server');
  const second = await org.call('GET', next);
  expect(String(first.body)).toContain('panda-host.top');
  expect(String(second.body)).toContain('bear-host.top');
  expect(second.headers['link']).toBeUndefined();
});

test('refuses an invalid filter everywhere', async () => {
  for (const path of [
    '/items',
    '/stats',
    '/api/feed/facets',
    '/api/feed/entities',
    '/api/feed/export/stix',
    '/api/feed/export/blocklist',
  ])
    for (const query of ['severity=huge', 'cve=x', 'duplicates=show']) {
      const { status, body } = await org.call(
        'GET',
        `${path}?type=${path.endsWith('list') ? 'domain' : ''}&${query}`.replace('type=&', ''),
      );
      expect([path, status, body.errors?.[0].pointer]).toEqual([path, 400, `query/${query.split('=')[0]}`]);
    }
});

test('every operation with a filter of the feed accepts all of them', () => {
  type Operation = { operationId: string; parameters?: { name: string; in: string; schema?: unknown }[] };
  const { paths } = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../openapi.json'), 'utf8')) as {
    paths: Record<string, Record<string, Operation>>;
  };
  const byFilter = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).flatMap(({ operationId, parameters = [] }) => {
      const names = new Set(parameters.filter((one) => one.in === 'query').map(({ name }) => name));
      const isOfFeed = path === '/items' || path === '/stats' || path.startsWith('/api/feed');
      const missing = Object.keys(filterFields).filter((name) => !names.has(name));
      // The names of threats also select the values of one MISP event.
      const distinctive = ['relevancyMode', 'duplicates', 'indicator'].some((name) => names.has(name));
      return isOfFeed && distinctive ? [[operationId, missing] as const] : [];
    }),
  );
  expect(Object.fromEntries(byFilter)).toEqual(
    Object.fromEntries(
      `listItems listFeedItems getStats getFeedStats getFeedFacets listFeedEntities listFeedStories exportStix exportMispManifest exportRss exportJsonFeed
      exportCsv exportBlocklist`
        .split(/\s+/)
        .map((id) => [id, []]),
    ),
  );
});
