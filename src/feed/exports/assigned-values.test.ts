import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dataDir } from '../../../test/support/data.ts';
import { fileSource } from '../../../test/support/feed/kev-source.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';

const app = await startApp();
const data = dataDir();
const get = (org: TestOrg, path: string) => org.call('GET', `/api/feed/export${path}`);
const blocklist = '/blocklist?type=ipv4,url,domain,cidr&minConfidence=0&maxTlp=RED';

test.skipIf(!data)('a filter by malware selects the values of that family in every format', async () => {
  const org = await app.newOrg();
  const list = await fileSource(app, org, { kind: 'csv', tlp: 'CLEAR', name: 'Families' });
  await list.pull(readFileSync(join(data!, 'cases/list-families.csv'), 'utf8'));
  const own = ['185.100.90.1', 'https://asyncrat-dl.top/a.exe'];
  const others = 18;
  const blocked = await get(org, `${blocklist}&malware=AsyncRAT`);
  expect([blocked.body, blocked.headers['x-tocsin-unassigned']]).toEqual([`${own.join('\n')}\n`, String(others)]);
  const csv = await get(org, '/csv?malware=AsyncRAT');
  const rows = (csv.body as string).trim().split('\r\n').slice(1);
  expect(rows.map((row) => row.split(',')[0]).toSorted()).toEqual(own);
  expect(rows[0]).toMatch(/,AsyncRAT,,$/);
  const stix = await get(org, '/stix?malware=AsyncRAT');
  const names = stix.body.objects.flatMap((one: { type: string; name: string }) =>
    one.type === 'indicator' ? one.name : [],
  );
  expect([names.toSorted(), stix.headers['x-tocsin-unassigned']]).toEqual([own, String(others)]);
  // A client of a MISP feed would get the whole event.
  const manifest = await get(org, '/misp/manifest.json?malware=AsyncRAT');
  expect([manifest.body, manifest.headers['x-tocsin-unassigned']]).toEqual([{}, String(others)]);
  const [eventId] = Object.keys((await get(org, '/misp/manifest.json')).body);
  const { Event } = (await get(org, `/misp/${eventId}.json?malware=AsyncRAT`)).body;
  const attributes = Event.Attribute.filter(({ Tag }: { Tag?: object }) => Tag);
  expect(attributes.map(({ value }: { value: string }) => value).toSorted()).toEqual(own);
  expect(attributes[0].Tag).toEqual([{ name: 'misp-galaxy:tool="AsyncRAT"', exportable: true }]);
  const found = (await org.call('GET', `/api/indicators?value=${own[0]}`)).body;
  expect(found.items[0]).toMatchObject({ malware: ['AsyncRAT'], actor: [] });
  const entity = (await org.call('GET', '/api/feed/entities/malware/AsyncRAT')).body;
  expect(entity.indicators.map(({ value }: { value: string }) => value).toSorted()).toEqual(own);
  expect((await get(org, blocklist)).body.trim().split('\n')).toHaveLength(20);
});

test('values of an item with several names belong to none, and those of one with a single name to it', async () => {
  const org = await app.newOrg();
  const list = await fileSource(app, org, { kind: 'csv', tlp: 'CLEAR', name: 'One family' });
  await list.pull('ip,malware\n185.100.90.31,Remcos\n185.100.90.32,Remcos\n');
  const post = (text: string) => org.call('POST', '/api/feed/items', { text, tlp: 'CLEAR' });
  await post('Remcos and AsyncRAT were delivered.\n\nIndicators: evil-several.top, 185.100.90.40');
  const { body, headers } = await get(org, `${blocklist}&malware=Remcos`);
  expect(body).toBe('185.100.90.31\n185.100.90.32\n');
  expect(headers['x-tocsin-unassigned']).toBe('2');
  expect((await get(org, `${blocklist}&malware=Remcos&actor=APT29`)).body).toBe('');
  expect((await get(org, blocklist)).headers['x-tocsin-unassigned']).toBeUndefined();
});
