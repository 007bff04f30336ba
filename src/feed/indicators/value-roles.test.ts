import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dataDir } from '../../../test/support/data.ts';
import { mispAttribute, mispEvent } from '../../../test/support/feed/misp-documents.ts';
import { fileSource } from '../../../test/support/feed/kev-source.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { callerOf } from '../../../test/support/org-requests.ts';
import { pullDocument } from '../../../test/support/api-client.ts';
import type { FeedItem } from '../model/item.schema.ts';

const app = await startApp({
  env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' },
  clock: () => new Date('2024-01-10T10:20:30.000Z'),
});

const lookUp = async (org: TestOrg, value: string) =>
  (await org.call('GET', `/api/indicators?value=${encodeURIComponent(value)}`)).body;
const readBlocklist = async (org: TestOrg): Promise<string[]> =>
  String((await org.call('GET', '/api/feed/export/blocklist?type=ipv4,domain,url&minConfidence=0&maxTlp=RED')).body)
    .trim()
    .split('\n');
const post = async (org: TestOrg, text: string, more: object = {}) =>
  (await org.call('POST', '/api/feed/items', { text, tlp: 'CLEAR', ...more })).body;

test('prose that calls a value harmless ends it in its own item only, in every output', async () => {
  const org = await app.newOrg();
  const victim = 'zq-valves.top';
  const report = `The attackers broke into the official website ${victim} and sent visitors to zq-drop[.]top.`;
  const { id } = await post(org, report);
  const alone = await lookUp(org, victim);
  expect(alone).toMatchObject({
    status: 'false_positive',
    why: 'harmless according to the text in 1 of 1 item',
    items: [{ status: 'false_positive', role: 'victim', why: expect.stringContaining('about this item only') }],
  });
  const event = mispEvent('roles', { Attribute: [mispAttribute('domain', victim)], Object: [] });
  await pullDocument(callerOf(org), { kind: 'misp', name: 'Events', tlp: 'CLEAR' }, JSON.stringify(event));
  expect(await lookUp(org, victim)).toMatchObject({ status: 'active', why: 'active in 1 of 2 items' });
  expect(await readBlocklist(org)).toEqual(['zq-drop.top', victim]);
  const csv = String((await org.call('GET', '/api/feed/export/csv')).body);
  expect(csv).toMatch(/zq-valves\.top,domain,false_positive,.*,victim\r\n/);
  expect(csv).toMatch(/zq-valves\.top,domain,active,.*,\r\n/);
  const { Event } = (await org.call('GET', `/api/feed/export/misp/${id}.json`)).body;
  const attribute = Event.Attribute.find(({ value }: { value: string }) => value === victim);
  expect(attribute).toMatchObject({ deleted: true, to_ids: false, Tag: [{ name: 'tocsin:role="victim"' }] });
  // Another installation reads the export in the same way.
  const reader = await app.newOrg();
  await pullDocument(callerOf(reader), { kind: 'misp', name: 'Export' }, JSON.stringify({ Event }));
  expect((await lookUp(reader, victim)).items).toMatchObject([{ status: 'false_positive', role: 'victim' }]);
  // The decision of a person applies to all items.
  const indicators = [{ type: 'domain', value: victim, status: 'false_positive' }];
  await org.call('PUT', `/api/feed/items/${id}/override`, { indicators });
  expect(await lookUp(org, victim)).toMatchObject({
    status: 'false_positive',
    why: expect.stringContaining('marked as a false positive'),
  });
  expect(await readBlocklist(org)).toEqual(['zq-drop.top']);
});

test('a list of harmless values ends a value in every item', async () => {
  const org = await app.newOrg();
  await post(org, 'The loader asks the server 8.8.8.8 for zq-other[.]top.');
  const source = await fileSource(app, org, { kind: 'csv', tlp: 'CLEAR', name: 'List' });
  await source.pull('ip\n8.8.8.8\n185.100.90.77\n');
  const { items, status } = await lookUp(org, '8.8.8.8');
  expect([status, items.map(({ role }: { role?: string }) => role)]).toEqual([
    'false_positive',
    [undefined, undefined],
  ]);
  expect(await readBlocklist(org)).toEqual(['185.100.90.77', 'zq-other.top']);
});

const statusesOf = async (org: TestOrg, id: string): Promise<Record<string, string>> => {
  const { iocs } = (await org.call('GET', `/items/${id}`)).body as FeedItem;
  const values = Object.values(iocs).flat();
  return Object.fromEntries(
    values.map(({ normalizedValue, status, role = '' }) => [normalizedValue, `${status} ${role}`.trim()]),
  );
};

const cases: [name: string, text: string, expected: Record<string, string>][] = [
  [
    'sentences about values before them',
    'Our crawler scans from 185.100.87.20 and 185.100.87.21. Please add them to your allow-list. The attackers used 185.100.87.25.',
    {
      '185.100.87.20': 'false_positive scanner',
      '185.100.87.21': 'false_positive scanner',
      '185.100.87.25': 'active',
    },
  ],
  [
    'a partial retraction',
    'Update: we mistakenly listed 185.100.87.60 and bluefin-panel[.]top. The C2 server remains 185.100.87.61.',
    {
      '185.100.87.60': 'false_positive legitimate',
      'bluefin-panel.top': 'false_positive legitimate',
      '185.100.87.61': 'active',
    },
  ],
  [
    'titles of lists',
    '## Indicators\n\nevil-one[.]top\n185.100.87.1\n\n## Please allow-list\n\n185.100.87.7\n185.100.87.8\n\nFalse positives: 185.100.87.9\n\nLegitimate files (do not block)\n\nFile | Address\nupdater.exe | 185.100.87.11\n\nMalicious files\n\nFile | Address\nloader | 185.100.87.12',
    {
      'evil-one.top': 'active',
      '185.100.87.1': 'active',
      '185.100.87.7': 'false_positive legitimate',
      '185.100.87.8': 'false_positive legitimate',
      '185.100.87.9': 'false_positive legitimate',
      'updater.exe': 'false_positive legitimate',
      '185.100.87.11': 'false_positive legitimate',
      '185.100.87.12': 'active',
    },
  ],
  [
    'sinkholes and honeypots',
    'Bots contact the sinkhole 185.100.87.5 since evil-dga[.]top was seized. 185.100.87.6 belongs to one of our honeypots. The panel old-dga[.]top now resolves to our sinkhole.',
    {
      '185.100.87.5': 'false_positive sinkhole',
      'evil-dga.top': 'active',
      '185.100.87.6': 'false_positive research',
      'old-dga.top': 'false_positive sinkhole',
    },
  ],
  [
    'an abused service, whose exact link is the attackers’',
    'The loader abuses the service zq-pastes[.]top and fetches hxxps://zq-pastes[.]top/raw/8123.',
    { 'zq-pastes.top': 'false_positive abused service', 'https://zq-pastes.top/raw/8123': 'active' },
  ],
  [
    'denials and misused values',
    'We do not think that 185.100.87.15 is legitimate. 185.100.87.16 was a legitimate server that they hacked. Do not add 185.100.87.17 to your allow list.',
    { '185.100.87.15': 'active', '185.100.87.16': 'active', '185.100.87.17': 'active' },
  ],
];

test.each(cases)('reads the roles of values from %s', async (_name, text, expected) => {
  const org = await app.newOrg();
  const { id } = await post(org, text);
  expect(await statusesOf(org, id)).toEqual(expected);
  const active = Object.keys(expected).filter((value) => expected[value] === 'active');
  expect((await readBlocklist(org)).toSorted()).toEqual(active.toSorted());
});

test.each([
  'Wir ziehen unseren Bericht vom 3. März zurück. Die Adresse 185.100.87.61 und die Domain kupfer-panel[.]top gehören zu einer Übung und sind nicht bösartig.',
  'Retiramos nuestro informe del 3 de marzo sobre la campaña. La dirección 185.100.87.61 y el dominio kupfer-panel[.]top no son maliciosos.',
])('reads a retraction in another language: %s', async (text) => {
  const org = await app.newOrg();
  const { id, event } = await post(org, text);
  expect(event.status).toBe('retracted');
  expect(Object.values(await statusesOf(org, id))).not.toContain('active');
});

test.each([
  ['"We withdraw our report," Acme wrote. The attackers use zq-drop[.]top.'],
  ['Wir ziehen unseren Bericht nicht zurück. Die Angreifer nutzen zq-drop[.]top und eine Schadsoftware.'],
  ['We do not withdraw our report of Monday. The attackers use zq-drop[.]top.'],
  ['Acme withdrew its report. The attackers use zq-drop[.]top.'],
])('does not retract: %s', async (text) => {
  expect((await post(await app.newOrg(), text)).event.status).toBe('active');
});

test('assigns values to the only family of their sentence, row or list, in every output', async () => {
  const org = await app.newOrg();
  const { id } = await post(
    org,
    'AsyncRAT connects to 185.100.90.1 and asyncrat-c2[.]top.\n\n| 185.100.90.4 | Remcos |\n\nVidar servers:\n185.100.90.5\n\nOther: 185.100.90.9 serves AsyncRAT and Remcos.',
  );
  const namesOf = async (value: string) => (await lookUp(org, value)).items[0].malware;
  expect(await Promise.all(['185.100.90.1', '185.100.90.4', '185.100.90.5', '185.100.90.9'].map(namesOf))).toEqual([
    ['AsyncRAT'],
    ['Remcos'],
    ['Vidar'],
    [],
  ]);
  const path = '/api/feed/export/blocklist?type=ipv4,domain&minConfidence=0&maxTlp=RED&malware=';
  expect((await org.call('GET', `${path}AsyncRAT`)).body).toBe('185.100.90.1\nasyncrat-c2.top\n');
  expect((await org.call('GET', `${path}Vidar`)).body).toBe('185.100.90.5\n');
  expect((await org.call('GET', '/api/feed/export/csv')).body).toMatch(/185\.100\.90\.4,ipv4,.*,Remcos,,\r\n/);
  const { Event } = (await org.call('GET', `/api/feed/export/misp/${id}.json`)).body;
  const tagOf = (wanted: string) => Event.Attribute.find(({ value }: { value: string }) => value === wanted).Tag;
  expect(tagOf('185.100.90.5')).toMatchObject([{ name: 'misp-galaxy:malpedia="Vidar"' }]);
  for (const read of ['/api/feed/export/stix', '/taxii2/root/collections/all/objects']) {
    const { objects } = (await org.call('GET', read)).body as { objects: Record<string, string>[] };
    const nameOf = (ref: string) => objects.find((one) => one['id'] === ref)!['name'];
    const stated = objects.filter((one) => one['relationship_type'] === 'indicates');
    const pairs = stated.map((one) => `${nameOf(one['source_ref']!)} ${nameOf(one['target_ref']!)}`);
    expect(pairs.toSorted()).toEqual([
      '185.100.90.1 AsyncRAT',
      '185.100.90.4 Remcos',
      '185.100.90.5 Vidar',
      'asyncrat-c2.top AsyncRAT',
    ]);
  }
});

test.skipIf(!dataDir())('reads texts that ask to allow or to remove their addresses', async () => {
  const texts = JSON.parse(readFileSync(join(dataDir()!, 'cases/texts.json'), 'utf8')) as Record<string, string>[];
  const read = async (wanted: string): Promise<Record<string, string>> => {
    const org = await app.newOrg();
    const { title, text } = texts.find(({ id }) => id === wanted)!;
    return statusesOf(org, (await post(org, text!, { title })).id);
  };
  expect(await read('allow-list')).toEqual({
    '185.100.87.200': 'false_positive scanner',
    '185.100.87.201': 'false_positive scanner',
    '185.100.87.250': 'active',
    'census.acme-lab.org': 'false_positive legitimate',
  });
  expect(await read('retract')).toEqual({
    '185.100.87.60': 'false_positive research',
    'bluefin-panel.top': 'false_positive research',
  });
});
