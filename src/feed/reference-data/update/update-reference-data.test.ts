import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataDir as recorded } from '../../../../test/support/data.ts';
import { newDataDir } from '../../../../test/support/harness.ts';
import { createExtractor } from '../../ingestion/extractor.ts';
import { startServer } from '../../../../test/support/feed/source-server.ts';
import { findTactic, findTechnique, listTechniques, useInstalledAttack } from '../attack.ts';
import { readInstalledAttack, readInstalledWarningLists, readInstalledNames } from '../read-installed.ts';
import { enterpriseBundle, icsBundle, malpediaCluster } from '../../../../test/support/feed/reference-documents.ts';
import { updateReferenceData } from './update-reference-data.ts';
import { applyInstalledReferenceData } from '../apply-installed.ts';

let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const attackPath = '/mitre-attack/attack-stix-data/master';
function publish(): void {
  server.routes.clear();
  server.document(`${attackPath}/enterprise-attack/enterprise-attack.json`, JSON.stringify(enterpriseBundle));
  server.document(`${attackPath}/ics-attack/ics-attack.json`, JSON.stringify(icsBundle));
  server.document('/MISP/misp-galaxy/main/clusters/malpedia.json', JSON.stringify(malpediaCluster));
  const list = { name: 'Top sites', type: 'hostname', list: ['popular-site.top'] };
  server.document('/MISP/misp-warninglists/main/lists/alexa/list.json', JSON.stringify(list));
}
const fetchAll = (dataDir: string) =>
  updateReferenceData({ dataDir, from: undefined, fetchAllow: ['127.0.0.1'], base: server.base });

const text = [
  'Quibbleforge used Zorblatter for Whispering Walls Exfiltration, listed as T1998.',
  'A Meadow lay there, and Harvest came. Later the Vexnibbler backdoor reached popular-site[.]top.',
].join('\n\n');

test('from the official places: new techniques, names and lists are found in texts by an extraction that starts afterwards', async () => {
  publish();
  const dataDir = newDataDir();
  const taken = await fetchAll(dataDir);
  expect(taken).toMatchObject({
    attack: { version: '99.1', techniques: 2, groups: 1, software: 1 },
    names: { names: 3, aliases: 1 },
    warninglists: { lists: 1, entries: 1 },
  });
  expect(taken.absent).toContain(`${server.base}${attackPath}/mobile-attack/mobile-attack.json`);
  const extractor = createExtractor(dataDir);
  const { classification, iocs } = await extractor.read({ text });
  await extractor.close();
  expect(classification.attack.map(({ technique }) => technique)).toEqual(['T1999']);
  expect(classification.actor).toMatchObject([{ name: 'Quibbleforge', aliases: ['Harvest'] }]);
  // Both sources' entry is one; Meadow and Harvest are words and stand without a cue.
  expect(classification.malware.map(({ name, aliases }) => [name, aliases])).toEqual([
    ['Vexnibbler', []],
    ['Zorblatter', ['Zrb', 'Zorbie']],
  ]);
  expect(iocs.domains).toMatchObject([{ normalizedValue: 'popular-site.top', status: 'false_positive' }]);
});

test('ATT&CK is laid over what is shipped: successors, what is deprecated, other matrices', async () => {
  publish();
  const dataDir = newDataDir();
  await fetchAll(dataDir);
  const before = listTechniques().length;
  applyInstalledReferenceData(dataDir, { warn: (problem: unknown) => expect(problem).toBeUndefined() });
  expect(findTechnique('t1998')).toMatchObject({ id: 'T1999', platforms: ['windows', 'network-devices'] });
  expect(findTechnique('T1005')).toBeUndefined();
  expect(findTechnique('T0806')?.tactics).toEqual(['impair-process-control']);
  expect(findTactic('impair-process-control')?.id).toBe('TA0106');
  expect(findTechnique('T1566.001')?.name).toBe('Spearphishing Attachment');
  expect(listTechniques()).toHaveLength(before + 1);
  useInstalledAttack(undefined);
  expect(findTechnique('T1999')).toBeUndefined();
});

test('one bad document among them leaves everything that is held as it was', async () => {
  publish();
  const dataDir = newDataDir();
  await fetchAll(dataDir);
  const held = readFileSync(join(dataDir, 'knowledge/attack.json'), 'utf8');
  for (const [path, body, reason] of [
    ['/MISP/misp-galaxy/main/clusters/tool.json', '{"values": 1}', /no ATT&CK bundle, MISP galaxy cluster/],
    ['/MISP/misp-galaxy/main/clusters/malpedia.json', '{"values": []}', /names/],
    ['/MISP/misp-warninglists/main/lists/alexa/list.json', '{"list": [1]}', /no warning list: name/],
    [`${attackPath}/ics-attack/ics-attack.json`, '[', /ics-attack.json is not JSON/],
  ] as const) {
    publish();
    server.document(`${attackPath}/enterprise-attack/enterprise-attack.json`, '{"objects": []}');
    server.document(path, body);
    await expect(fetchAll(dataDir), path).rejects.toThrow(reason);
  }
  publish();
  server.routes.set('/MISP/misp-galaxy/main/clusters/rat.json', (response) => response.writeHead(500).end());
  await expect(fetchAll(dataDir)).rejects.toThrow(/clusters\/rat.json: .*status 500/);
  expect(readFileSync(join(dataDir, 'knowledge/attack.json'), 'utf8')).toBe(held);
});

test('what is broken in the data directory is told, and what is shipped serves on', async () => {
  const dataDir = newDataDir();
  mkdirSync(join(dataDir, 'knowledge'), { recursive: true });
  for (const name of ['attack.json', 'names.json', 'warninglists.json.gz'])
    writeFileSync(join(dataDir, 'knowledge', name), '{"techniques": [{"id": "T1"}]');
  const told: string[] = [];
  applyInstalledReferenceData(dataDir, { warn: (problem: unknown) => void told.push(String(problem)) });
  expect(told).toHaveLength(3);
  for (const [at, name] of ['attack.json', 'names.json', 'warninglists.json.gz'].entries())
    expect(told[at]).toMatch(new RegExp(`${name}.*what is shipped is used instead`));
  const extractor = createExtractor(dataDir);
  const { classification } = await extractor.read({ text: 'Emotet came by T1566.001.' });
  await extractor.close();
  expect(classification).toMatchObject({ malware: [{ name: 'Emotet' }], attack: [{ subTechnique: 'T1566.001' }] });
});

test('from checkouts side by side, and from a folder of another installation', async () => {
  const [from, first, second] = [newDataDir(), newDataDir(), newDataDir()];
  mkdirSync(join(from, 'attack-stix-data/enterprise-attack'), { recursive: true });
  mkdirSync(join(from, 'misp-galaxy-main/clusters'), { recursive: true });
  const bundle = join(from, 'attack-stix-data/enterprise-attack/enterprise-attack.json');
  writeFileSync(bundle, JSON.stringify(enterpriseBundle));
  writeFileSync(join(from, 'misp-galaxy-main/clusters/malpedia.json'), JSON.stringify(malpediaCluster));
  const taken = await updateReferenceData({ dataDir: first, from, fetchAllow: [] });
  expect(taken).toMatchObject({ attack: { techniques: 1 }, names: { names: 3 } });
  expect(await updateReferenceData({ dataDir: second, from: join(first, 'knowledge'), fetchAllow: [] })).toEqual(taken);
  expect(readInstalledAttack(second)).toEqual(readInstalledAttack(first));
  expect(readInstalledNames(second)).toEqual(readInstalledNames(first));
});

test.skipIf(!recorded())('the recorded tables are taken whole', async () => {
  const dataDir = newDataDir();
  const taken = await updateReferenceData({ dataDir, from: join(recorded()!, 'knowledge'), fetchAllow: [] });
  expect(taken).toMatchObject({
    attack: { version: '18.1', techniques: 691, groups: 187, software: 787 },
    names: { names: 9_214 },
  });
  expect(readInstalledWarningLists(dataDir)?.('ipv4', '8.8.8.8')).toBeDefined();
});
