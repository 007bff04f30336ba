import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { fileSource } from '../../../test/support/feed/kev-source.ts';

const app = await startApp();
const post = async (org: TestOrg, text: string, publishTime?: string): Promise<string> =>
  (await org.call('POST', '/api/feed/items', { text, ...(publishTime ? { publishTime } : {}) })).body.id;
const list = async (org: TestOrg, query = '') => (await org.call('GET', `/api/feed/entities${query}`)).body;
const namesOf = async (org: TestOrg, query = ''): Promise<string[]> =>
  (await list(org, query)).entities.map(({ type, name }: { type: string; name: string }) => `${type} ${name}`);

test('lists the entities that the organization sees, page by page, and finds them by beginning and alias', async () => {
  const [org, other] = [await app.newOrg(), await app.newOrg()];
  await post(org, 'The actor APT29 deployed the WellMess malware through CVE-2024-21887.', '2026-03-01T00:00:00Z');
  await post(org, 'The group Blue Kitsune used the WellMess malware again, with Mimikatz.', '2026-05-01T00:00:00Z');
  const all = ['actor APT29', 'malware WellMess', 'tool Mimikatz', 'vulnerability CVE-2024-21887'];
  expect(await namesOf(org)).toEqual(all);
  expect((await list(org, '?type=malware')).entities).toEqual([
    {
      type: 'malware',
      name: 'WellMess',
      attackId: 'S0514',
      items: 2,
      firstSeen: '2026-03-01T00:00:00.000Z',
      lastSeen: '2026-05-01T00:00:00.000Z',
    },
  ]);
  expect(await namesOf(org, '?q=well mes')).toEqual(['malware WellMess']);
  expect(await namesOf(org, '?q=cve-2024-2')).toEqual(['vulnerability CVE-2024-21887']);
  expect(await namesOf(org, '?q=blue%20kitsune&type=actor')).toEqual(['actor APT29']);
  expect(await namesOf(org, '?q=cozy&type=actor')).toEqual(['actor APT29']);
  expect(await namesOf(org, '?q=mika')).toEqual(['tool Mimikatz']);
  expect(await namesOf(org, '?q=c&limit=1')).toEqual(['vulnerability CVE-2024-21887']);
  expect(await namesOf(org, '?q=ellMess')).toEqual([]);
  expect((await org.call('GET', '/api/feed/entities/malware/mimikatz')).body).toMatchObject({
    type: 'tool',
    name: 'Mimikatz',
  });
  expect(await namesOf(org, '?q=g0016&type=actor')).toEqual(['actor APT29']);
  const byId = (await org.call('GET', '/api/feed/entities/actor/g0016')).body;
  expect([byId.name, byId.attackId]).toEqual(['APT29', 'G0016']);
  expect((await org.call('GET', '/items?q=G0016')).body.total).toBe(2);
  expect((await org.call('GET', '/items?q=s0002%20mimikatz')).body.total).toBe(1);
  expect((await org.call('GET', '/items?q=G0045')).body.total).toBe(0);
  const paged: string[] = [];
  for (let cursor = ''; cursor !== 'null';) {
    const page = await list(org, `?limit=1${cursor && `&cursor=${cursor}`}`);
    paged.push(...page.entities.map(({ type, name }: { type: string; name: string }) => `${type} ${name}`));
    cursor = String(page.nextCursor);
  }
  expect(paged).toEqual(all);
  expect(await namesOf(other)).toEqual([]);
  expect((await other.call('GET', '/api/feed/entities/malware/WellMess')).status).toBe(404);
  expect((await org.call('GET', '/api/feed/entities?cursor=x')).status).toBe(400);
});

test('shows what the items state about an entity, without what the organization rejected', async () => {
  const org = await app.newOrg();
  const text = `APT29 deployed the WellMess malware in Norway.
The WellMess malware contacted evil-panel[.]top as its command and control server.
A second command and control server was other-panel[.]top, seen elsewhere.`;
  const id = await post(org, text);
  const read = async (path: string) => (await org.call('GET', `/api/feed/entities/${path}`)).body;
  const detail = await read('malware/wellmess');
  expect(detail).toMatchObject({ type: 'malware', name: 'WellMess', items: 1, latestItems: [{ id }] });
  const valuesOf = (body: typeof detail) =>
    body.indicators.map(({ value, isStated }: { value: string; isStated: boolean }) => [value, isStated]);
  expect(valuesOf(detail)).toEqual([
    ['evil-panel.top', true],
    ['other-panel.top', false],
  ]);
  expect(detail.relationships).toContainEqual({
    type: 'uses',
    source: { type: 'actor', name: 'APT29' },
    target: { type: 'malware', name: 'WellMess' },
    passage: 'APT29 deployed the WellMess malware in Norway.',
    itemId: id,
  });
  expect((await read('actor/Blue%20Kitsune')).aliases).toContain('Blue Kitsune');
  const indicators = [{ type: 'domain', value: 'other-panel.top', status: 'false_positive' }];
  await org.call('PUT', `/api/feed/items/${id}/override`, { indicators });
  expect(valuesOf(await read('malware/WellMess'))).toEqual([['evil-panel.top', true]]);
  await org.call('POST', `/api/feed/items/${id}/retract`, { reason: 'wrong' });
  expect(await namesOf(org)).toEqual([]);
});

test('finds an entity by an alias that only its source states', async () => {
  const org = await app.newOrg();
  const tool = {
    type: 'tool',
    spec_version: '2.1',
    id: 'tool--00000000-0000-4000-8000-000000000001',
    created: '2024-01-01T00:00:00.000Z',
    modified: '2024-01-01T00:00:00.000Z',
    name: 'Zqlister',
    aliases: ['zqlister.exe'],
  };
  await (await fileSource(app, org, { kind: 'stix' })).pull({ type: 'bundle', objects: [tool] });
  expect((await org.call('GET', '/items?tool=zqlister.exe')).body.total).toBe(1);
  for (const path of ['tool/ZQLISTER.exe', 'malware/zqlister.exe'])
    expect((await org.call('GET', `/api/feed/entities/${path}`)).body).toMatchObject({
      type: 'tool',
      name: 'Zqlister',
      aliases: ['zqlister.exe'],
    });
  expect((await org.call('GET', '/api/feed/entities/actor/zqlister.exe')).status).toBe(404);
});
