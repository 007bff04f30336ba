import { describe, expect, test } from 'vitest';
import { inOrg, queryRows } from '../../platform/db/db.ts';
import { startApp, type ApiResponse, type TestOrg } from '../../../test/support/harness.ts';
import { domains, stixReport } from '../../../test/support/feed/grouped-reports.ts';
import { fileSource } from '../../../test/support/feed/kev-source.ts';
import { objectsOf, readAll, type TaxiiObject } from '../../../test/support/feed/taxii-objects.ts';

const app = await startApp();

const root = '/taxii2/root/';
const post = (org: TestOrg, text: string): Promise<ApiResponse> => org.call('POST', '/api/feed/items', { text });

describe('TAXII 2.1', () => {
  const get = async (url: string, headers: Record<string, string> = {}) =>
    (await app.newOrg()).call('GET', url, undefined, headers);

  test('leads from discovery to the API root and its collections', async () => {
    const discovery = await get('/taxii2/', { accept: 'application/taxii+json;version=2.1' });
    expect(discovery.headers['content-type']).toBe('application/taxii+json;version=2.1');
    expect(discovery.body.api_roots).toEqual([root]);
    expect((await get(root)).body.versions).toEqual(['application/taxii+json;version=2.1']);
    const { collections } = (await get(`${root}collections/`)).body;
    expect(collections.map(({ alias }: { alias: string }) => alias)).toEqual(['all', 'relevant', 'indicators']);
    for (const { id, alias } of collections)
      expect((await get(`${root}collections/${id}/`)).body).toMatchObject({ alias, can_read: true, can_write: false });
  });

  test.each([
    ['/taxii2/', { accept: 'text/html' }, 406],
    ['/taxii2/', { accept: 'application/taxii+json;version=2.0' }, 406],
    ['/taxii2/', { accept: 'application/taxii+json' }, 200],
    [objectsOf('nothing'), {}, 404],
    [`${objectsOf('all')}?limit=0`, {}, 400],
    [`${objectsOf('all')}?added_after=yesterday`, {}, 400],
    [`${objectsOf('all')}?added_after=2026-02-30T00:00:00Z`, {}, 400],
    [`${objectsOf('all')}?added_after=0000-01-01T00:00:00Z`, {}, 400],
    [`${objectsOf('all')}?match[version]=2026-13-01T00:00:00Z`, {}, 400],
    [`${objectsOf('all')}?next=anything`, {}, 400],
    [`${objectsOf('all')}?next=${Buffer.from('2026-02-30T00:00:00Z').toString('base64url')}`, {}, 400],
    [`${objectsOf('all')}report--6f3d2a54-1c1e-4b9c-9d0a-3a6b1c5e7f01/`, {}, 404],
  ] as const)('returns for %s with %o: %i', async (url, headers, status) => {
    const answer = await get(url, headers);
    expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/taxii+json;version=2.1']);
    if (status !== 200) expect(answer.body.title).toMatch(/\w/);
  });

  test('rejects writes to a collection', async () => {
    const org = await app.newOrg();
    const headers = { 'content-type': 'application/taxii+json;version=2.1' };
    const object = 'report--6f3d2a54-1c1e-4b9c-9d0a-3a6b1c5e7f01';
    expect((await org.call('POST', objectsOf('all'), '{"objects":[]}', headers)).status).toBe(403);
    expect((await org.call('DELETE', `${objectsOf('all')}${object}/`)).status).toBe(403);
    expect((await org.call('PUT', objectsOf('all'))).status).toBe(405);
  });

  test('accepts a key as the password of Basic authentication, which other routes do not', async () => {
    const org = await app.newOrg();
    const authorization = `Basic ${Buffer.from(`anyone:${org.key}`).toString('base64')}`;
    const call = (url: string, header: string) => app.app.inject({ url, headers: { authorization: header } });
    expect((await call('/taxii2/', authorization)).statusCode).toBe(200);
    expect((await call('/items', authorization)).statusCode).toBe(401);
    const refused = await call('/taxii2/', `Basic ${Buffer.from('anyone:wrong').toString('base64')}`);
    expect([refused.statusCode, refused.headers['www-authenticate']]).toEqual([401, 'Basic realm="tocsin"']);
  });
});

describe('objects', () => {
  test('filters objects and returns the manifest, the versions and one object by its id', async () => {
    const org = await app.newOrg();
    await post(org, 'The group used evil-host[.]top and 198.51.101.9 as command and control servers.');
    const { objects } = await readAll(org, 'all');
    const indicators = objects.filter(({ type }) => type === 'indicator');
    expect(indicators.length).toBe(2);
    expect((await readAll(org, 'indicators')).objects).toEqual(indicators);
    const [report] = objects.filter(({ type }) => type === 'report');
    const read = async (more: string) => (await org.call('GET', `${objectsOf('all')}${more}`)).body.objects;
    expect(await read(`?match[type]=report`)).toEqual([report]);
    expect(await read(`?match[id]=${report!.id}`)).toEqual([report]);
    expect(await read(`?match[spec_version]=2.0`)).toBeUndefined();
    expect(await read(`${report!.id}/`)).toEqual([report]);
    expect(await read(`?match[version]=${report!.modified}&match[type]=report`)).toEqual([report]);
    expect((await org.call('GET', `${objectsOf('all')}${report!.id}/versions/`)).body.versions).toEqual([
      report!.modified,
    ]);
    const manifest = (await org.call('GET', `${root}collections/all/manifest/`)).body.objects;
    expect(manifest.map(({ id }: TaxiiObject) => id)).toEqual(objects.map(({ id }) => id));
    const dates = manifest.map((row: { date_added: string }) => row.date_added);
    expect(new Set(dates).size).toBe(dates.length);
    expect(dates).toEqual(dates.toSorted());
  });

  test('returns the same objects page by page, none twice', async () => {
    const org = await app.newOrg();
    for (let n = 1; n <= 5; n += 1)
      await post(org, `Report ${n} names bad-host-${n}[.]top as a command and control server.`);
    const whole = await readAll(org, 'all');
    const paged = await readAll(org, 'all', undefined, 2);
    expect(paged.objects).toEqual(whole.objects);
    expect((await readAll(org, 'all', whole.last)).objects).toEqual([]);
    expect(new Set(whole.objects.map(({ id, modified }) => `${id} ${modified}`)).size).toBe(whole.objects.length);
  });

  test('reads only a few items for the first page of a large feed', async () => {
    const org = await app.newOrg();
    const reports = Array.from({ length: 60 }, (_, n) => stixReport(n, domains(n, 1)) as { objects: object[] });
    const objects = reports.flatMap((report) => report.objects);
    await (await fileSource(app, org, { kind: 'stix', visibility: 'private' })).pull({ type: 'bundle', objects });
    const first = await org.call('GET', `${objectsOf('all')}?limit=1`);
    expect([first.body.objects.length, first.body.more]).toEqual([1, true]);
    const countItems = (): Promise<{ items: number }[]> =>
      inOrg(
        app.deps.db,
        org.id,
        (tx) => queryRows<{ items: number }>(tx)`
        select count(distinct item_id)::int as items from taxii_objects where organization_id = tocsin_org()`,
      );
    expect(await countItems()).toEqual([{ items: 20 }]);
    expect((await readAll(org, 'all')).objects).toHaveLength(120);
    expect(await countItems()).toEqual([{ items: 60 }]);
  });

  test('adds the objects of a correction and revokes those that it no longer contains', async () => {
    const org = await app.newOrg();
    const kev = await fileSource(app, org, { kind: 'csv' });
    await kev.pull('indicator\nfirst-host.top\nsecond-host.top\n');
    const before = await readAll(org, 'indicators');
    expect(before.objects.map(({ name }) => name).toSorted()).toEqual(['first-host.top', 'second-host.top']);
    await kev.pull('indicator\nfirst-host.top\nthird-host.top\n');
    const { objects } = await readAll(org, 'indicators', before.last);
    const states = new Map(objects.map(({ id, revoked }) => [id, revoked ?? false]));
    for (const { id, name } of before.objects)
      if (name === 'second-host.top' && states.has(id)) expect(states.get(id)).toBe(true);
    expect(objects.some(({ name, revoked }) => name === 'third-host.top' && !revoked)).toBe(true);
  });

  test('revokes the objects of a retraction, and adds later versions when it is undone', async () => {
    const org = await app.newOrg();
    const { id } = (await post(org, 'The dropper was fetched from gone-host[.]top by the attackers.')).body;
    const first = await readAll(org, 'all');
    await org.call('POST', `/api/feed/items/${id}/retract`, { reason: 'wrong' });
    const second = await readAll(org, 'all', first.last);
    expect(second.objects.filter(({ type }) => type === 'report' || type === 'indicator')).toHaveLength(2);
    for (const { type, revoked } of second.objects)
      if (type === 'report' || type === 'indicator') expect(revoked).toBe(true);
    await org.call('DELETE', `/api/feed/items/${id}/retract`);
    const third = await readAll(org, 'indicators', second.last);
    expect(third.objects).toHaveLength(1);
    expect(third.objects[0]!.revoked).toBeUndefined();
    expect(third.objects[0]!.modified! > second.objects.find(({ type }) => type === 'indicator')!.modified!).toBe(true);
  });

  test('keeps the id and content of objects that came as STIX', async () => {
    const org = await app.newOrg();
    const bundle = stixReport(1, domains(1, 3)) as { objects: TaxiiObject[] };
    await (await fileSource(app, org, { kind: 'stix' })).pull(bundle);
    const { objects } = await readAll(org, 'all');
    const byId = (list: TaxiiObject[]) =>
      list.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map((one) => JSON.stringify(one));
    expect(byId(objects)).toEqual(byId(bundle.objects));
  });
});

test('revokes objects that an organization retracts for itself in its collections only', async () => {
  const [maker, reader] = [await app.newOrg(), await app.newOrg(['feed:read', 'feed:write'])];
  const source = await fileSource(app, maker, { kind: 'stix', visibility: 'shared', tlp: 'CLEAR' });
  await source.pull(stixReport(77, domains(7_700, 2)));
  const before = { maker: await readAll(maker, 'all'), reader: await readAll(reader, 'all') };
  const { items } = (await reader.call('GET', '/items?perPage=100')).body;
  const { id } = items.find(({ event }: { event: { title: string } }) => event.title === 'Report 77');
  await reader.call('POST', `/api/feed/items/${id}/retract`, { reason: 'not for us' });
  const after = await readAll(reader, 'all', before.reader.last);
  expect(after.objects.map(({ revoked }) => revoked)).toEqual([true, true, true]);
  expect((await readAll(maker, 'all', before.maker.last)).objects).toEqual([]);
  await reader.call('DELETE', `/api/feed/items/${id}/retract`);
  const again = await readAll(reader, 'all', after.last);
  expect(again.objects.map(({ revoked }) => revoked)).toEqual([undefined, undefined, undefined]);
});

describe('overrides', () => {
  const override = async (org: TestOrg, id: string, body: object): Promise<void> =>
    expect((await org.call('PUT', `/api/feed/items/${id}/override`, body)).status).toBe(200);
  const statusOf = (value: string, status: string) => ({ indicators: [{ type: 'domain', value, status }] });

  test('add later versions, all of which stay readable', async () => {
    const org = await app.newOrg();
    const shared = await readAll(org, 'all');
    const { id } = (await post(org, 'The dropper was fetched from worded-host[.]top by the attackers.')).body;
    const seen: TaxiiObject[] = [];
    let { objects, last } = await readAll(org, 'all', shared.last);
    for (const body of [
      { severity: 'critical' },
      statusOf('worded-host.top', 'false_positive'),
      { severity: 'low', indicators: null },
      { note: 'not exported' },
    ]) {
      seen.push(...objects);
      await override(org, id, body);
      ({ objects, last } = await readAll(org, 'all', last));
    }
    expect(objects).toEqual([]);
    const ofType = (type: string) => seen.filter((one) => one.type === type);
    expect(ofType('report').map((one) => (one as TaxiiObject & { labels: string[] }).labels[0])).toEqual([
      expect.stringMatching(/^severity:(?!critical)/),
      'severity:critical',
      'severity:critical',
      'severity:low',
    ]);
    expect(ofType('indicator').map(({ revoked = false }) => revoked)).toEqual([false, false, true, false]);
    for (const one of [...ofType('report'), ...ofType('indicator')]) {
      const url = `${objectsOf('all')}${one.id}/?match[version]=${one.modified}`;
      expect((await org.call('GET', url)).body.objects).toEqual([one]);
    }
    const paged = await readAll(org, 'all', shared.last, 1);
    expect(paged.objects.filter(({ type }) => type === 'report')).toEqual(ofType('report').slice(-1));
  });

  test('revoke an indicator that came as STIX for their organization only, and keep the other objects', async () => {
    const [maker, reader] = [await app.newOrg(), await app.newOrg(['feed:read', 'feed:write'])];
    const source = await fileSource(app, maker, { kind: 'stix', visibility: 'shared', tlp: 'CLEAR' });
    await source.pull(stixReport(78, ['taken-78.top', 'kept-78.top']));
    const before = { maker: await readAll(maker, 'all'), reader: await readAll(reader, 'all') };
    const [{ id }] = (await reader.call('GET', '/items?indicator=taken-78.top')).body.items;
    await override(reader, id, { severity: 'low' });
    expect((await readAll(reader, 'all', before.reader.last)).objects).toEqual([]);
    await override(reader, id, statusOf('taken-78.top', 'revoked'));
    const after = await readAll(reader, 'all', before.reader.last);
    expect(after.objects).toMatchObject([{ id: 'indicator--taken-78.top', revoked: true }]);
    expect((await readAll(maker, 'all', before.maker.last)).objects).toEqual([]);
  });
});

test('misses nothing when a reader resumes at the last date while four writers commit', async () => {
  const org = await app.newOrg();
  const readers = [
    { found: new Map<string, number>(), last: undefined as string | undefined, limit: 3 },
    { found: new Map<string, number>(), last: undefined, limit: 7 },
  ];
  let writing = 4;
  const write = async (writer: number): Promise<void> => {
    for (let n = 0; n < 6; n += 1)
      await post(org, `Writer ${writer} names w${writer}-n${n}-host[.]top, a command and control server.`);
    writing -= 1;
  };
  const read = async (reader: (typeof readers)[number]): Promise<void> => {
    for (let done = false; !done;) {
      done = writing === 0;
      const { objects, last } = await readAll(org, 'indicators', reader.last, reader.limit);
      reader.last = last;
      for (const { name } of objects.filter(({ name }) => name?.startsWith('w')))
        reader.found.set(name!, (reader.found.get(name!) ?? 0) + 1);
    }
  };
  await Promise.all([0, 1, 2, 3].map(write).concat(readers.map(read)));
  for (const { found } of readers) {
    expect([...found.keys()].toSorted()).toEqual(
      [0, 1, 2, 3].flatMap((w) => [0, 1, 2, 3, 4, 5].map((n) => `w${w}-n${n}-host.top`)),
    );
    expect(new Set(found.values())).toEqual(new Set([1]));
  }
});
