import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../../../../test/support/database.ts';
import { startJudgedRuns, login, verdictOn } from '../../../../../test/support/detection/judged-runs.ts';
import { hour } from '../../../../../test/support/detection/scripted-runs.ts';
import { getTestDir } from '../../../../../test/support/test-dir.ts';
import { someMmdb } from '../../../../../test/support/platform/mmdb-file.ts';
import { createSecretbox } from '../../../../platform/lib/secretbox.ts';
import { createEnrich } from '../../../../platform/enrichment/enrich.ts';
import { openGeoDatabases } from '../../../../platform/enrichment/geo-databases.ts';
import { getHit, getHits } from '../../../hits/read-hits.ts';

const testDb = await testDatabase();
const file = join(getTestDir(), 'enrich-case.mmdb');
writeFileSync(file, someMmdb());
const secrets = createSecretbox({
  secretKey: 'k'.repeat(32),
  previousSecretKey: undefined,
  dataDir: '',
  databaseUrl: undefined,
});
const open = (paths: string[]) => openGeoDatabases({ dataDir: getTestDir(), paths }, { warn: () => undefined });
open([file]);
afterAll(() => open([]));

const city = { observation: 'o1', rowId: 'geo:8.8.8.8', field: 'city', value: 'Oslo' };

test('shows a model and the analyst what enrichers know of addresses, as an observation that claims cite and that proves nothing', async () => {
  const claims = [
    { text: 'root signed in by ConsoleLogin.', kind: 'fact', cites: [{ observation: 'rows', rowId: 'e-root-0', field: 'action', value: 'ConsoleLogin' }] }, // prettier-ignore
    { text: 'The address 8.8.8.8 is in Oslo.', kind: 'fact', cites: [city, { ...city, field: 'value', value: '8.8.8.8' }] }, // prettier-ignore
    { text: 'The address is in Paris.', kind: 'fact', cites: [{ ...city, value: 'Paris' }] },
  ];
  const { t, stand } = await startJudgedRuns(testDb, (asked) => verdictOn(asked, { claims }), {
    answer: ({ window }) =>
      window.from.toISOString() === hour(0) ? [{ ...login('root'), ip: '8.8.8.8', inner: '10.0.0.1' }] : [],
  });
  t.deps.enrich = createEnrich({ db: t.db, clock: () => new Date(hour(1)), secrets, config: { fetchAllow: [] } });
  await t.newDetection({ name: 'By the analyst' });
  await t.runAt(hour(1));
  expect(stand.asked[0]!.raw).toContain('Nordnett');
  const { hits } = await getHits(t.deps, t.caller, {});
  expect(hits).toHaveLength(2);
  const details = await Promise.all(hits.map(({ id }) => getHit(t.deps, t.caller, id)));
  const stored = await t.select<{ observations: string; headline: string }>`select observations from hits`;
  for (const { observations } of stored)
    expect(JSON.parse(observations).filter((one: { tool: string }) => one.tool === 'enrich_values')).toMatchObject([
      {
        tool: 'enrich_values',
        source: 'outside',
        isTrusted: false,
        input: { values: ['8.8.8.8'] },
        rows: [
          {
            rowId: 'geo:8.8.8.8',
            fields: { value: '8.8.8.8', country: 'NO', city: 'Oslo', asn: '64500', lookedUpAt: hour(1), costUsd: '0' },
          },
        ],
      },
    ]);
  const statuses = details.map(({ claims: checked }) => checked.map(({ text, status }) => `${status} ${text}`));
  expect(statuses.flat()).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^(?:cited|supported) The address 8\.8\.8\.8 is in Oslo\.$/),
      'unproven The address is in Paris.',
      'cited By what enrichers know, “8.8.8.8” is in Oslo, NO of Nordnett (AS64500).',
    ]),
  );
});
