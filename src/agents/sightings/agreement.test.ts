import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { pullDocument } from '../../../test/support/api-client.ts';
import { mispAttribute, mispEvent } from '../../../test/support/feed/misp-documents.ts';
import { newDataDir, startApp } from '../../../test/support/harness.ts';
import { callerOf, sendEvents } from '../../../test/support/org-requests.ts';
import { updateReferenceData } from '../../feed/reference-data/update-reference-data.ts';
import { acrossOrgs } from '../../platform/db/db.ts';
import { syncSweepsAcrossOrgs } from './sightings.store.ts';
import { sweepDue } from './sweep.ts';

const sha256 = 'a'.repeat(63) + 'b';
const md5 = 'c'.repeat(31) + 'd';

/** The attributes of an event as sources state them. */
const attributes: [type: string, value: string][] = [
  ['domain', 'google.com'],
  ['domain', 'popular-site.top'],
  ['domain', 'cloudapp.azure.com'],
  ['domain', 'zq7-drop.eastus.cloudapp.azure.com'],
  ['ip-dst', '10.0.0.1'],
  ['ip-dst', '45.155.205.1:8080'],
  ['ip-dst|port', '45.155.205.2|443'],
  ['domain', '45.155.205.3'],
  ['hostname|port', 'c2.zq7-port.top|8443'],
  ['domain', 'http://zq7-field.top/gate.php'],
  ['domain', 'http://zq7-bare.top/'],
  ['url', 'http://zq7-hacked.top/wp/a.exe'],
  ['md5', sha256],
  ['filename|md5', `run.exe|${md5}`],
  ['domain', 'zq7-parent.top'],
  ['ip-dst', '45.9.148.0/24'],
  ['ip-dst', '172.16.0.0/12'],
];

const report = `Malicious packages load a script that was obfuscated with https://obfuscator.io and then install
https://nodejs.org/dist/v22.1.0/node-v22.1.0-x64.msi. See https://www.zq7-publisher.top/blog/earlier for our earlier report.
The page looks like the official website www.zq7-original.top and loads a script from the domain zq7-spelled dot top.

Indicators

zq7-prose[.]top
45.155.205[.]4:8080
hxxp://zq7-storage.s3.amazonaws[.]com/a.bin
`;

type Outcome = 'active' | 'false_positive' | 'unknown';
const covered = new Set(['zq7-bare.top', 'www.zq7-parent.top', '45.9.148.77', 'http://45.9.148.78/a']);
/** The value as a log has it, and what look-ups, block lists and sightings say. `sighted` is the reason of the sighting. */
const cases: [value: string, status: Outcome, sighted?: string][] = [
  ['google.com', 'false_positive'],
  ['popular-site.top', 'false_positive'],
  ['cloudapp.azure.com', 'false_positive'],
  ['other.eastus.cloudapp.azure.com', 'unknown'],
  ['zq7-drop.eastus.cloudapp.azure.com', 'active', 'exact'],
  ['10.0.0.1', 'false_positive'],
  ['45.155.205.1', 'active', 'exact'],
  ['45.155.205.2', 'active', 'exact'],
  ['45.155.205.3', 'active', 'exact'],
  ['45.155.205.4', 'active', 'exact'],
  ['c2.zq7-port.top', 'active', 'exact'],
  ['http://zq7-field.top/gate.php', 'active', 'exact'],
  ['http://zq7-hacked.top/wp/a.exe', 'active', 'exact'],
  ['zq7-hacked.top', 'unknown'],
  // A URL without a path is its host. Block lists have it as a URL.
  ['zq7-bare.top', 'active', 'url_host'],
  [sha256, 'active', 'exact'],
  [md5, 'active', 'exact'],
  ['zq7-parent.top', 'active', 'exact'],
  // Block lists have the values themselves, and not what they cover.
  ['www.zq7-parent.top', 'active', 'parent_domain'],
  ['45.9.148.77', 'active', 'network'],
  ['http://45.9.148.78/a', 'active', 'network'],
  ['172.16.0.7', 'unknown'],
  ['zq7-prose.top', 'active', 'exact'],
  ['http://zq7-storage.s3.amazonaws.com/a.bin', 'active', 'exact'],
  ['zq7-spelled.top', 'active', 'exact'],
  ['www.zq7-original.top', 'false_positive'],
  ['s3.amazonaws.com', 'unknown'],
  ['obfuscator.io', 'false_positive'],
  ['https://nodejs.org/dist/v22.1.0/node-v22.1.0-x64.msi', 'false_positive'],
  ['https://www.zq7-publisher.top/blog/earlier', 'false_positive'],
  ['www.zq7-publisher.top', 'false_positive'],
];

const fieldOf = (value: string): string =>
  value.includes('://') ? 'url' : /^[\d.]+$/.test(value) ? 'dest_ip' : value.includes('.') ? 'domain' : 'hash';

test('look-ups, block lists and sightings agree on every value', async () => {
  const dataDir = newDataDir();
  const from = join(dataDir, 'lists.json');
  const list = { id: 'alexa', name: 'Top sites', type: 'hostname', list: ['popular-site.top'] };
  writeFileSync(from, JSON.stringify({ lists: [list] }));
  await updateReferenceData({ dataDir, from, fetchAllow: [] });
  let now = new Date('2024-01-10T10:20:30.000Z');
  const env = { TOCSIN_FETCH_ALLOW: '127.0.0.1', TOCSIN_DATA_DIR: dataDir };
  const app = await startApp({ env, clock: () => now });
  const org = await app.newOrg();
  const sweep = async (): Promise<void> => {
    now = new Date(now.getTime() + 60_000);
    await syncSweepsAcrossOrgs(app.deps.db);
    await acrossOrgs(app.deps.db, (tx) => sql`update feed_sweeps set due_at = clock_timestamp()`.execute(tx));
    for (let step = 0; step < 50 && (await sweepDue(app.deps, new AbortController().signal)); step += 1);
  };
  const timestamp = now.toISOString();
  const events = cases.map(([value], index) => ({ _id: String(index), timestamp, [fieldOf(value)]: value }));
  await sendEvents(org, 'proxy', events, { isHistory: false });
  await sweep();

  const event = mispEvent('agree', {
    Attribute: attributes.map(([type, value]) => mispAttribute(type, value)),
    Object: [],
  });
  expect(await pullDocument(callerOf(org), { kind: 'misp', name: 'Events' }, JSON.stringify(event))).toMatchObject({
    added: 1,
  });
  const posted = { text: report, title: 'Packages', sourceUrl: 'https://www.zq7-publisher.top/blog/packages' };
  expect((await org.call('POST', '/api/feed/items', posted)).status).toBe(200);
  await sweep();

  const types = 'ipv4,domain,url,md5,sha256';
  const exported = await org.call('GET', `/api/feed/export/blocklist?type=${types}&minConfidence=0&maxTlp=RED`);
  const blocked = new Set(String(exported.body).trim().split('\n'));
  const { body } = await org.call('POST', '/api/indicators/lookup', { values: cases.map(([value]) => value) });
  const { items } = (await org.call('GET', '/items')).body;
  const sightings: Record<string, string> = {};
  // A row may be a sighting of a URL and of its host.
  for (const { id } of items)
    for (const { event: row, match } of (await org.call('GET', `/api/feed/items/${id}/sightings`)).body.sightings)
      if (sightings[JSON.parse(row)._id] !== 'exact') sightings[JSON.parse(row)._id] = match;
  const found = cases.map(([value], index) => [
    value,
    body.indicators[index].status,
    blocked.has(value),
    sightings[String(index)],
  ]);
  expect(found).toEqual(
    cases.map(([value, status, sighted]) => [value, status, status === 'active' && !covered.has(value), sighted]),
  );

  const networks = await org.call('GET', '/api/feed/export/blocklist?type=cidr&minConfidence=0&maxTlp=RED');
  expect(networks.body).toBe('45.9.148.0/24\n');

  const urlsOf = async (host: string) =>
    (await org.call('GET', `/api/indicators?value=${host}`)).body.urls.map(
      ({ value, status }: Record<string, string>) => `${value} ${status}`,
    );
  expect(await urlsOf('zq7-field.top')).toEqual(['http://zq7-field.top/gate.php active']);
  expect(await urlsOf('zq7-hacked[.]top')).toEqual(['http://zq7-hacked.top/wp/a.exe active']);
  expect(await urlsOf('zq7-prose.top')).toEqual([]);
});
