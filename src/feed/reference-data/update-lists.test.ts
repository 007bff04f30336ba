import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { newDataDir } from '../../../test/support/harness.ts';
import { createExtractor } from '../ingestion/extractor.ts';
import { readInstalledWarningLists } from './installed-data.ts';
import { updateReferenceData } from './update-reference-data.ts';

const list = (values: string[]) => ({ name: 'Top sites', type: 'hostname', list: values });
const install = (dataDir: string, from: string) => updateReferenceData({ dataDir, from, fetchAllow: [] });

test('installs the supported warning lists of a checkout or a single file, and the extractor uses them', async () => {
  const [dataDir, from] = [newDataDir(), newDataDir()];
  expect(readInstalledWarningLists(dataDir)).toBeUndefined();
  mkdirSync(join(from, 'lists/alexa'), { recursive: true });
  writeFileSync(join(from, 'lists/alexa/list.json'), JSON.stringify({ ...list(['popular-site.top']), version: 1 }));
  expect(await install(dataDir, from)).toEqual({ warninglists: { lists: 1, entries: 1 }, absent: [] });
  const extractor = createExtractor(dataDir);
  const { iocs } = await extractor.read({ text: 'Indicators\n\npopular-site[.]top\nevil-site[.]top\n' });
  expect(iocs.domains.map(({ normalizedValue, status }) => [normalizedValue, status])).toEqual([
    ['popular-site.top', 'false_positive'],
    ['evil-site.top', 'active'],
  ]);
  await extractor.close();
  const file = join(from, 'all.json.gz');
  writeFileSync(
    file,
    gzipSync(
      JSON.stringify({
        lists: [
          { id: 'alexa', ...list(['a.top', 'b.top']) },
          { id: 'unused', ...list(['c.top']) },
        ],
      }),
    ),
  );
  expect(await install(dataDir, file)).toEqual({ warninglists: { lists: 1, entries: 2 }, absent: [] });
  expect(readInstalledWarningLists(dataDir)?.('domain', 'x.a.top')).toBe('Top sites');
});

test('rejects invalid files and keeps the installed lists', async () => {
  const [dataDir, from] = [newDataDir(), newDataDir()];
  const good = join(from, 'good.json');
  // Some programs write a byte order mark.
  writeFileSync(good, '\uFEFF' + JSON.stringify({ lists: [{ id: 'alexa', ...list(['a.top']) }] }));
  await install(dataDir, good);
  const cases: [string, RegExp][] = [
    ['{', /is not plain or gzipped JSON/],
    ['PK\u0003\u0004', /is not plain or gzipped JSON/],
    ['{"lists":[{"id":"alexa","name":"x","type":"y","list":[1]}]}', /bad.json is invalid/],
    ['{"lists":[]}', /contains none of the supported warning lists/],
  ];
  for (const [text, reason] of cases) {
    writeFileSync(join(from, 'bad.json'), text);
    await expect(install(dataDir, join(from, 'bad.json'))).rejects.toThrow(reason);
  }
  await expect(install(dataDir, join(from, 'absent'))).rejects.toThrow(/does not exist/);
  const packed = gzipSync(JSON.stringify({ lists: [{ id: 'alexa', ...list(['b.top']) }] }));
  writeFileSync(join(from, 'cut.json.gz'), packed.subarray(0, packed.length - 9));
  await expect(install(dataDir, join(from, 'cut.json.gz'))).rejects.toThrow(/cut.json.gz is not plain or gzipped JSON/);
  mkdirSync(join(from, 'names.json'));
  await expect(install(dataDir, from)).rejects.toThrow(/names.json cannot be read/);
  expect(readInstalledWarningLists(dataDir)?.('domain', 'a.top')).toBe('Top sites');
});
