import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataDir as recorded } from '../../../test/support/data.ts';
import { newDataDir } from '../../../test/support/harness.ts';
import { createExtractor } from '../ingestion/extractor.ts';
import { startServer } from '../../../test/support/feed/source-server.ts';
import { findTactic, findTechnique, listTechniques, useInstalledAttack } from './attack.ts';
import {
  readInstalledAttack,
  readInstalledWarningLists,
  readInstalledNames,
  applyInstalledReferenceData,
} from './installed-data.ts';
import { enterpriseBundle, icsBundle, malpediaCluster } from '../../../test/support/feed/reference-documents.ts';
import { updateReferenceData } from './update-reference-data.ts';

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

test('installs fetched techniques, names and lists, and a new extractor uses them', async () => {
  publish();
  const dataDir = newDataDir();
  const result = await fetchAll(dataDir);
  expect(result).toMatchObject({
    attack: { version: '99.1', techniques: 2, groups: 1, software: 1 },
    names: { names: 3, aliases: 1 },
    warninglists: { lists: 1, entries: 1 },
  });
  expect(result.absent).toContain(`${server.base}${attackPath}/mobile-attack/mobile-attack.json`);
  const extractor = createExtractor(dataDir);
  const { classification, iocs } = await extractor.read({ text });
  await extractor.close();
  expect(classification.attack.map(({ technique }) => technique)).toEqual(['T1999']);
  expect(classification.actor).toMatchObject([{ name: 'Quibbleforge', aliases: ['Harvest'] }]);
  // Both sources list Zorblatter. Meadow and Harvest are everyday words without a cue.
  expect(classification.malware.map(({ name, aliases }) => [name, aliases])).toEqual([
    ['Vexnibbler', []],
    ['Zorblatter', ['Zrb', 'Zorbie']],
  ]);
  expect(iocs.domains).toMatchObject([{ normalizedValue: 'popular-site.top', status: 'false_positive' }]);
});

test('merges installed ATT&CK data over the shipped data, including successors, deprecations and other matrices', async () => {
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

test('keeps all installed files if one document is invalid', async () => {
  publish();
  const dataDir = newDataDir();
  await fetchAll(dataDir);
  const installed = readFileSync(join(dataDir, 'knowledge/attack.json'), 'utf8');
  for (const [path, body, reason] of [
    ['/MISP/misp-galaxy/main/clusters/tool.json', '{"values": 1}', /is not an ATT&CK bundle, MISP galaxy cluster/],
    ['/MISP/misp-galaxy/main/clusters/malpedia.json', '{"values": []}', /names/],
    ['/MISP/misp-warninglists/main/lists/alexa/list.json', '{"list": [1]}', /alexa.*is invalid: name/],
    [`${attackPath}/ics-attack/ics-attack.json`, '[', /ics-attack.json is not plain or gzipped JSON/],
  ] as const) {
    publish();
    server.document(`${attackPath}/enterprise-attack/enterprise-attack.json`, '{"objects": []}');
    server.document(path, body);
    await expect(fetchAll(dataDir), path).rejects.toThrow(reason);
  }
  publish();
  server.routes.set('/MISP/misp-galaxy/main/clusters/rat.json', (response) => response.writeHead(500).end());
  await expect(fetchAll(dataDir)).rejects.toThrow(/clusters\/rat.json: .*status 500/);
  expect(readFileSync(join(dataDir, 'knowledge/attack.json'), 'utf8')).toBe(installed);
});

test('reports unusable installed files and uses the shipped data instead', async () => {
  const dataDir = newDataDir();
  mkdirSync(join(dataDir, 'knowledge'), { recursive: true });
  for (const name of ['attack.json', 'names.json', 'warninglists.json.gz'])
    writeFileSync(join(dataDir, 'knowledge', name), '{"techniques": [{"id": "T1"}]');
  const warnings: string[] = [];
  applyInstalledReferenceData(dataDir, { warn: (problem: unknown) => void warnings.push(String(problem)) });
  expect(warnings).toHaveLength(3);
  for (const [at, name] of ['attack.json', 'names.json', 'warninglists.json.gz'].entries())
    expect(warnings[at]).toMatch(new RegExp(`${name}.*The shipped data is used instead`));
  const extractor = createExtractor(dataDir);
  const { classification } = await extractor.read({ text: 'Emotet came by T1566.001.' });
  await extractor.close();
  expect(classification).toMatchObject({ malware: [{ name: 'Emotet' }], attack: [{ subTechnique: 'T1566.001' }] });
});

test('installs from checkouts in one folder and from the folder of another installation', async () => {
  const [from, first, second] = [newDataDir(), newDataDir(), newDataDir()];
  mkdirSync(join(from, 'attack-stix-data/enterprise-attack'), { recursive: true });
  mkdirSync(join(from, 'misp-galaxy-main/clusters'), { recursive: true });
  const bundle = join(from, 'attack-stix-data/enterprise-attack/enterprise-attack.json');
  writeFileSync(bundle, JSON.stringify(enterpriseBundle));
  writeFileSync(join(from, 'misp-galaxy-main/clusters/malpedia.json'), JSON.stringify(malpediaCluster));
  const result = await updateReferenceData({ dataDir: first, from, fetchAllow: [] });
  expect(result).toMatchObject({ attack: { techniques: 1 }, names: { names: 3 } });
  expect(await updateReferenceData({ dataDir: second, from: join(first, 'knowledge'), fetchAllow: [] })).toEqual(
    result,
  );
  expect(readInstalledAttack(second)).toEqual(readInstalledAttack(first));
  expect(readInstalledNames(second)).toEqual(readInstalledNames(first));
});

test.skipIf(!recorded())('installs the recorded tables completely', async () => {
  const dataDir = newDataDir();
  const result = await updateReferenceData({ dataDir, from: join(recorded()!, 'knowledge'), fetchAllow: [] });
  expect(result).toMatchObject({
    attack: { version: '18.1', techniques: 691, groups: 187, software: 787 },
    names: { names: 9_214 },
  });
  expect(readInstalledWarningLists(dataDir)?.('ipv4', '8.8.8.8')).toBeDefined();
});
