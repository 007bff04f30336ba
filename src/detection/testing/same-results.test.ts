import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startApp } from '../../../test/support/harness.ts';
import { readDetectionFile, writeDetectionFile } from '../as-code/detection-file.ts';
import { parseFields } from '../managed/file-fields.ts';
import { runFolderTests } from './render-results.ts';

const now = new Date('2026-03-02T12:00:00Z');
const { newOrg } = await startApp({ clock: () => now });
const folder = mkdtempSync(join(tmpdir(), 'tocsin-same-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const event = { timestamp: '2026-01-05T20:00:00Z', user: 'ada', country: 'KP' };
const detection = {
  name: 'Sign-in',
  detectionCategory: 'custom',
  systemPrompt: 'Judge it.',
  detectionQuery: 'SELECT "user", country, _id, _time FROM logins',
  entityField: 'user',
  detectionCadence: 'hourly',
};
const cases = [{ name: 'one', events: [event], expect: ['ada'] }];

const detections = {
  plain: detection,
  'reads a column that only the stored logs have': {
    ...detection,
    detectionQuery: 'SELECT "user", mfa, _id, _time FROM logins WHERE coalesce(mfa, true)',
  },
  'reads a mistyped column': { ...detection, detectionQuery: 'SELECT "user", cuontry, _id, _time FROM logins' },
  'is written for another SIEM': { ...detection, siemType: 'splunk', detectionQuery: 'index=auth' },
  'has a mistyped entity field': { ...detection, entityField: 'usr' },
  'reads a forbidden function': { ...detection, detectionQuery: "SELECT * FROM read_text('/etc/passwd')" },
};

test('a folder and the service give the same results, whatever logs the service has', async () => {
  const org = await newOrg();
  await callOk(org, 'POST', '/api/logs/logins', JSON.stringify({ ...event, mfa: false, user: 7 }));
  const names = Object.keys(detections);
  for (const [name, body] of Object.entries(detections))
    writeFileSync(join(folder, `${name}.yaml`), writeDetectionFile(parseFields({ ...body, tests: cases })).text);
  const files = names.map((name) => readDetectionFile(folder, `${name}.yaml`));
  const offline = await runFolderTests(files, { dataDir: mkdtempSync(join(folder, 'data-')), now });
  for (const [index, body] of Object.values(detections).entries()) {
    const { id } = await callOk(org, 'POST', '/api/detections', body);
    await callOk(org, 'PUT', `/api/detections/${id}/tests`, { tests: cases });
    const online = await callOk(org, 'POST', `/api/detections/${id}/tests/run`);
    expect(withoutTimes(offline[index]!.run)).toEqual(withoutTimes(online));
  }
});

test("a folder treats the query of another connection as another SIEM's", async () => {
  const connectionId = '0197a0c0-0000-7000-8000-000000000001';
  writeFileSync(
    join(folder, 'remote.yaml'),
    writeDetectionFile(parseFields({ ...detection, connectionId, tests: cases })).text,
  );
  const dataDir = mkdtempSync(join(folder, 'data-'));
  const [result] = await runFolderTests([readDetectionFile(folder, 'remote.yaml')], { dataDir, now });
  expect(result!.run).toMatchObject({ passed: true, queryTested: false });
});

const withoutTimes = ({ results, ...run }: { results: { ms: number }[] }): unknown => ({
  ...run,
  results: results.map((result) => ({ ...result, ms: 0 })),
});
