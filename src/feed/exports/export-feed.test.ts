import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { fileSource, kevCatalogue, kevRows } from '../../../test/support/feed/kev-source.ts';

const app = await startApp();

const base = '/api/feed/export';
const get = (org: TestOrg, path: string, headers: Record<string, string> = {}) =>
  org.call('GET', `${base}${path}`, undefined, headers);
const post = async (org: TestOrg, text: string, tlp: string): Promise<string> =>
  (await org.call('POST', '/api/feed/items', { text, tlp, title: text.slice(0, 30) })).body.id;
const sentence = (host: string): string =>
  `The malware talks to its command and control server ${host.replace('.', '[.]')} often.`;

async function filledOrg(): Promise<{ org: TestOrg; ids: Record<'clear' | 'amber' | 'gone', string> }> {
  const org = await app.newOrg();
  const ids = {
    clear: await post(org, sentence('clear-host.top'), 'CLEAR'),
    amber: await post(org, sentence('amber-host.top'), 'AMBER'),
    gone: await post(org, sentence('gone-host.top'), 'GREEN'),
  };
  await org.call('POST', `/api/feed/items/${ids.gone}/retract`, { reason: 'wrong' });
  return { org, ids };
}

test('exports only CLEAR and GREEN items in formats without markings, unless `maxTlp` is set', async () => {
  const { org } = await filledOrg();
  for (const path of ['/rss', '/feed.json', '/csv', '/blocklist?type=domain&minConfidence=0']) {
    const byDefault = JSON.stringify((await get(org, path)).body);
    const withAmber = JSON.stringify((await get(org, `${path}${path.includes('?') ? '&' : '?'}maxTlp=AMBER`)).body);
    const shown =
      path === '/rss' || path === '/feed.json' ? ['clear-host', 'amber-host'] : ['clear-host.top', 'amber-host.top'];
    expect([byDefault.includes(shown[0]!), byDefault.includes(shown[1]!)]).toEqual([true, false]);
    expect(withAmber).toContain(shown[1]);
  }
  const stix = JSON.stringify((await get(org, '/stix')).body);
  for (const host of ['clear-host.top', 'amber-host.top', 'gone-host.top']) expect(stix).toContain(host);
});

test('marks a retracted item in every format and leaves it off block lists', async () => {
  const { org, ids } = await filledOrg();
  const { objects } = (await get(org, '/stix')).body;
  const gone = objects.filter(
    ({ type, name }: { type: string; name: string }) => type === 'indicator' && name === 'gone-host.top',
  );
  expect(gone).toMatchObject([{ revoked: true }]);
  const manifest = (await get(org, '/misp/manifest.json')).body;
  const eventId = Object.keys(manifest).find((id) => id.replace(/^(.{14})4/, '$17') === ids.gone)!;
  expect(manifest[eventId].info).toMatch(/^\[retracted\]/);
  const { Event } = (await get(org, `/misp/${eventId}.json`)).body;
  expect(Event.Attribute.every(({ deleted }: { deleted: boolean }) => deleted)).toBe(true);
  expect((await get(org, '/rss')).body).toContain('[retracted]');
  expect((await get(org, '/csv')).body).toMatch(/gone-host\.top,domain,revoked/);
  expect((await get(org, '/blocklist?type=domain&minConfidence=0')).body).toBe('clear-host.top\n');
});

test('exports networks and other observables, with what look-ups say of them', async () => {
  const org = await app.newOrg();
  const list = await fileSource(app, org, { kind: 'csv', tlp: 'CLEAR', name: 'Networks' });
  await list.pull('indicator\n45.155.205.0/24\n10.0.0.0/8\n2a06:98c0::/29\na@evil-mail.top\n');
  const all = '/blocklist?minConfidence=0&type=';
  expect((await get(org, `${all}cidr`)).body).toBe('2a06:98c0::/29\n45.155.205.0/24\n');
  expect((await get(org, `${all}ipv4,ipv6`)).body).toBe('');
  const csv = String((await get(org, '/csv')).body);
  expect(csv).toContain('45.155.205.0/24,cidr,active,');
  expect(csv).toContain('10.0.0.0/8,cidr,false_positive,');
  const [eventId] = Object.keys((await get(org, '/misp/manifest.json')).body);
  const { Attribute } = (await get(org, `/misp/${eventId}.json`)).body.Event;
  type Read = { type: string; value: string; to_ids: boolean; deleted?: boolean; Tag?: { name: string }[] };
  const tagged = Attribute.filter(({ Tag }: Read) => Tag);
  expect(tagged).toMatchObject([{ value: '10.0.0.0/8', Tag: [{ name: 'false-positive:confirmed="true"' }] }]);
  const attributes = Attribute.map(({ type, value, to_ids, deleted }: Read) => [type, value, to_ids, deleted]);
  expect(attributes.filter(([type]: string[]) => type !== 'comment' && type !== 'link')).toEqual([
    ['ip-dst', '45.155.205.0/24', true, undefined],
    ['ip-dst', '10.0.0.0/8', false, true],
    ['ip-dst', '2a06:98c0::/29', true, undefined],
    ['email', 'a@evil-mail.top', true, undefined],
  ]);
});

test('applies overrides of severity and indicators to the exports of their organization only', async () => {
  const [maker, reader] = [await app.newOrg(), await app.newOrg(['feed:read', 'feed:write'])];
  const list = await fileSource(app, maker, { kind: 'csv', visibility: 'shared', tlp: 'CLEAR', name: 'Overridden' });
  await list.pull('indicator\nsaid-false.top\nsaid-over.top\nstill-bad.top\n');
  const [item] = (await reader.call('GET', '/items?indicator=said-false.top')).body.items;
  const eventId = item.id.replace(/^(.{14})7/, '$14');
  const paths = ['/stix', '/csv', '/blocklist?type=domain&minConfidence=0', '/rss', '/misp/manifest.json'];
  const readFiles = async (org: TestOrg) =>
    Promise.all([...paths, `/misp/${eventId}.json`].map(async (path) => JSON.stringify((await get(org, path)).body)));
  const before = await readFiles(maker);
  const { headers } = await get(reader, '/csv');
  const readTimestamp = async (org: TestOrg) => Number((await get(org, '/misp/manifest.json')).body[eventId].timestamp);
  const timestampBefore = await readTimestamp(reader);

  await expect.poll(() => Math.floor(Date.now() / 1000)).toBeGreaterThan(timestampBefore);
  const indicators = [
    { type: 'domain', value: 'said-false.top', status: 'false_positive' },
    { type: 'domain', value: 'said-over.top', status: 'expired' },
  ];
  const response = await reader.call('PUT', `/api/feed/items/${item.id}/override`, {
    severity: 'critical',
    indicators,
  });
  expect(response.status).toBe(200);

  expect((await get(reader, paths[2]!)).body).toBe('still-bad.top\n');
  const csv = await get(reader, '/csv', { 'if-none-match': String(headers['etag']) });
  expect(csv.status).toBe(200);
  expect(csv.body).toMatch(/said-false\.top,domain,false_positive,.*,critical,/);
  expect(csv.body).toMatch(/still-bad\.top,domain,active,.*,critical,/);
  const { objects } = (await get(reader, '/stix')).body;
  const revoked = objects.filter((one: { revoked?: boolean }) => one.revoked).map(({ name }: { name: string }) => name);
  expect(revoked.toSorted()).toEqual(['said-over.top']);
  const { Event } = (await get(reader, `/misp/${eventId}.json`)).body;
  const toIds = Event.Attribute.filter((one: { to_ids: boolean }) => one.to_ids);
  expect(toIds.map(({ value }: { value: string }) => value)).toEqual(['still-bad.top']);
  expect(Event.threat_level_id).toBe('1');
  expect(await readTimestamp(reader)).toBeGreaterThan(timestampBefore);
  expect((await get(reader, '/rss')).body).toContain('critical');
  expect(await readFiles(reader)).toEqual(await readFiles(reader));
  expect(await readFiles(maker)).toEqual(before);
});

test('returns stable bytes, links the next page and answers a known ETag with 304', async () => {
  const org = await app.newOrg();
  await (await fileSource(app, org, { kind: 'kev', tlp: 'CLEAR' })).pull(kevCatalogue(1, kevRows(7)));
  const [one, two] = [await get(org, '/stix?limit=3'), await get(org, '/stix?limit=3')];
  expect(JSON.stringify(one.body)).toBe(JSON.stringify(two.body));
  expect((await get(org, '/stix?limit=3', { 'if-none-match': String(one.headers['etag']) })).status).toBe(304);
  const seen: string[] = [];
  let path: string | undefined = '/stix?limit=3';
  for (let page = 0; path && page < 10; page += 1) {
    const { body, headers } = await get(org, path);
    seen.push(
      ...body.objects
        .filter(({ type }: { type: string }) => type === 'vulnerability')
        .map(({ name }: { name: string }) => name),
    );
    path = /<(\S+)>/.exec(String(headers['link'] ?? ''))?.[1]?.slice(base.length);
  }
  expect(seen.toSorted()).toEqual(kevRows(7).map(({ cveID }) => cveID));
  expect(one.headers['x-tocsin-losses']).toMatch(/affectedProducts=3/);
});

test('returns more than one page of items in the MISP manifest', async () => {
  const org = await app.newOrg();
  await (await fileSource(app, org, { kind: 'kev', tlp: 'CLEAR' })).pull(kevCatalogue(1, kevRows(510)));
  const whole = await get(org, '/misp/manifest.json');
  // Includes the shared items of earlier tests.
  expect(Object.keys(whole.body).length).toBeGreaterThanOrEqual(510);
  expect(whole.headers['link']).toBeUndefined();
  const part = await get(org, '/misp/manifest.json?limit=505');
  expect(Object.keys(part.body)).toEqual(Object.keys(whole.body).slice(0, 505));
  const rest = await get(org, /<(\S+)>/.exec(String(part.headers['link']))![1]!.slice(base.length));
  expect(Object.keys(rest.body)).toEqual(Object.keys(whole.body).slice(505));
});

const encodeCursor = (text: string): string => Buffer.from(text).toString('base64url');

test.each([
  '/stix?limit=0',
  '/stix?limit=501',
  '/misp/manifest.json?limit=10001',
  '/stix?after=x',
  `/stix?after=${encodeCursor(`2026-01-01T00:00:00.000Z ${'-'.repeat(36)}`)}`,
  `/stix?after=${encodeCursor('2026-13-01T00:00:00.000Z 01890000-0000-7000-8000-000000000000')}`,
  '/csv?maxTlp=WHITE',
  '/blocklist',
  '/blocklist?type=planet',
  '/blocklist?type=ipv4&format=hosts',
  '/blocklist?type=ipv4&minConfidence=2',
])('returns 400 for %s', async (path) => {
  expect((await get(await app.newOrg(), path)).status).toBe(400);
});

test('links the exports from the item list', async () => {
  const org = await app.newOrg();
  const { links } = (await org.call('GET', '/items')).body.outputs;
  for (const link of Object.values(links)) expect((await org.call('GET', String(link))).status).toBe(200);
});
