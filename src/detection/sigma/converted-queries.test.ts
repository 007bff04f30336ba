import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { dataDir } from '../../../test/support/data.ts';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';

const recorded = dataDir();
const time = { now: new Date('2026-03-02T12:00:00Z') };
const { newOrg } = await startApp({ clock: () => time.now });
const window = { from: '2026-03-02T10:00:00Z', to: '2026-03-02T11:00:00Z' };

/** Every 50th recorded rule. `TOCSIN_SIGMA_STEP=1` converts all of them. */
const step = Number(process.env['TOCSIN_SIGMA_STEP'] ?? 50);

/** Events of a few datasets, none of which has many of the fields that rules read. */
const events: Record<string, unknown[]> = {
  windows: [
    { Event: { System: { EventID: 4625, Channel: 'Security', Computer: 'host' }, EventData: { IpAddress: '192.0.2.1' } } },
  ],
  cloudtrail: [{ eventName: 'ConsoleLogin', userIdentity: { type: 'Root' }, sourceIPAddress: '192.0.2.1' }],
  linux: [{ exe: '/bin/sh', SYSCALL: 59 }],
  web: [{ 'cs-method': 'GET', c_ip: '192.0.2.1' }],
}; // prettier-ignore

async function newOrgWithLogs(): Promise<TestOrg> {
  const org = await newOrg();
  for (const [dataset, list] of Object.entries(events)) {
    const lines = list.map((event) => JSON.stringify({ '@timestamp': window.from, ...(event as object) }));
    await callOk(org, 'POST', `/api/logs/${dataset}`, lines.join('\n'));
  }
  return org;
}

const toDetection = (detectionQuery: string): Record<string, unknown> => ({
  name: 'Converted',
  detectionCategory: 'custom',
  systemPrompt: 'Judge it.',
  detectionCadence: 'hourly',
  detectionQuery,
});

type Warned = { warnings?: { code: string; detail: string }[] };
const codesOf = ({ warnings = [] }: Warned): string[] => warnings.map(({ code }) => code);

test.skipIf(!recorded)(
  'a preview, a search and a check accept every converted rule and warn of no field',
  async () => {
    const org = await newOrgWithLogs();
    const lines = gunzipSync(readFileSync(join(recorded!, 'detections/sigma/rules.ndjson.gz')))
      .toString()
      .trim()
      .split('\n')
      .filter((_, index) => index % step === 0);
    let queries = 0;
    for (const line of lines) {
      const { yaml } = JSON.parse(line) as { yaml: string };
      const { results } = await callOk(org, 'POST', '/api/sigma/convert', { rules: yaml });
      for (const { query } of results as { query: string | null }[]) {
        if (query === null) continue;
        queries += 1;
        const found = await org.call('POST', '/api/logs/search', { query, ...window });
        expect([query, found.status, found.body.errors]).toEqual([query, 200, undefined]);
        const preview = await org.call('POST', '/api/detections/preview', { ...toDetection(query), ...window });
        expect([query, preview.status, preview.body.errors]).toEqual([query, 200, undefined]);
        const made = await org.call('POST', '/api/detections?validate=true', toDetection(query));
        expect([query, made.status, made.body.errors]).toEqual([query, 200, undefined]);
        const codes = [found, preview, made].flatMap(({ body }) => codesOf(body));
        expect([query, codes]).toEqual([query, codes.filter((code) => code !== 'unknown_column')]);
        await callOk(org, 'DELETE', `/api/detections/${made.body.id}`);
      }
    }
    expect(queries).toBeGreaterThan(lines.length / 2);
  },
  step === 50 ? 300_000 : 3_600_000,
);

test('a run, a preview, a search and a check say the same of an unknown column', async () => {
  const org = await newOrgWithLogs();
  const warned = async (query: string): Promise<unknown[]> => {
    const search = await callOk(org, 'POST', '/api/logs/search', { query, ...window });
    const preview = await callOk(org, 'POST', '/api/detections/preview', { ...toDetection(query), ...window });
    const made = await callOk(org, 'POST', '/api/detections?validate=true', toDetection(query));
    const found = ([search, preview, made] as Warned[]).map(({ warnings = [] }) =>
      warnings
        .filter(({ code }) => code === 'unknown_column')
        .map(({ detail }) => detail),
    );
    expect(found[1]).toEqual(found[0]);
    expect(found[2]).toEqual(found[0]);
    return found[0]!;
  };
  expect(await warned('SELECT _id, _time, eventNme FROM cloudtrail')).toEqual([
    'No event has had eventNme, so it is null; did you mean eventName?',
  ]);
  expect(await warned('SELECT _id, _time, userIdentity.typ FROM cloudtrail')).toEqual([
    expect.stringContaining('userIdentity.type'),
  ]);
  expect(await warned('SELECT _id, coalesce(lower(errorCode), responseElements.code, eventName) AS c FROM cloudtrail')).toEqual([]);
  expect(await warned('SELECT _id, coalesce(t.errorCode, NULL) AS errorCode FROM cloudtrail AS t WHERE errorCode IS NULL')).toEqual([]);
  // A default is no alternative.
  expect(await warned("SELECT _id, coalesce(eventNme, '-') AS c FROM cloudtrail")).toHaveLength(1);
  expect(await warned('SELECT _id, coalesce(eventNme, eventName) AS c, eventNme AS d FROM cloudtrail')).toHaveLength(1);
}); // prettier-ignore
