import { expect, test } from 'vitest';
import { executeDueRuns } from '../../src/detection/runs/workers/run-loops.ts';
import { callOk } from '../support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../support/harness.ts';

const time = { now: new Date('2026-03-02T00:30:00Z') };
const { deps, newOrg } = await startApp({ clock: () => time.now });

type Warning = { code: string; field?: string; detail: string };

const detection = {
  name: 'Sign-in',
  detectionCategory: 'custom',
  systemPrompt: 'Judge it.',
  detectionQuery: 'SELECT "user", country, _id, _time FROM signins',
  detectionCadence: 'hourly',
};

/** Mistakes that let a detection run without an error and find less than its author expects, with the warning that each must cause. */
const mistakes: [name: string, code: string, field: string, detail: RegExp, change: Record<string, unknown>][] = [
  [
    'a mistyped dataset',
    'no_data',
    'detectionQuery',
    /sigins.*did you mean signins\?/,
    { detectionQuery: 'SELECT * FROM sigins' },
  ],
  [
    'a mistyped dataset in a join',
    'no_data',
    'detectionQuery',
    /sigins.*did you mean signins\?/,
    { detectionQuery: 'SELECT a."user", a._id, a._time FROM signins a LEFT JOIN sigins b ON a._id = b._id' },
  ],
  ['a mistyped entity field', 'no_entity_field', 'entityField', /usr.*did you mean user\?/, { entityField: 'usr' }],
  ['a mistyped time field', 'no_time_field', 'timeField', /_tme.*did you mean _time\?/, { timeField: '_tme' }],
  [
    'a sequence without steps',
    'no_steps',
    'detectionQuery',
    /`step` column/,
    { detectionCategory: 'sequence_pattern' },
  ],
];

let shared: TestOrg | undefined;
/** Returns the organization that the tests share, half an hour before its next runs. */
async function startOrg(): Promise<TestOrg> {
  time.now = new Date('2026-03-02T00:30:00Z');
  return (shared ??= await createOrg());
}

async function createOrg(): Promise<TestOrg> {
  time.now = new Date('2026-03-02T00:30:00Z');
  const org = await newOrg();
  await callOk(
    org,
    'POST',
    '/api/logs/signins',
    [JSON.stringify({ '@timestamp': '2026-03-02T00:20:00Z', user: 'ada', country: 'NO', note: '' })].join('\n'),
  );
  return org;
}

async function runNext(org: TestOrg, id: string): Promise<{ status: string; warnings: Warning[] }> {
  time.now = new Date('2026-03-02T01:00:00Z');
  await executeDueRuns(deps, time.now);
  const [run] = (await callOk(org, 'GET', `/api/detections/${id}/runs`)).runs;
  return run;
}

test.each(mistakes)('%s is a warning in validation, in preview, on the run and on the record', async (...mistake) => {
  const [, code, field, detail, change] = mistake;
  const org = await startOrg();
  const expected = { code, detail: expect.stringMatching(detail) };
  const body = { ...detection, ...change };
  const checked = await callOk(org, 'POST', '/api/detections?validate=true', body);
  expect(checked.warnings).toEqual([{ ...expected, field }]);
  const range = { from: '2026-03-02T00:00:00Z', to: '2026-03-02T01:00:00Z' };
  const preview = await callOk(org, 'POST', '/api/detections/preview', { ...body, ...range });
  expect(preview.warnings).toContainEqual(expected);
  const { id } = await callOk(org, 'POST', '/api/detections', body);
  const run = await runNext(org, id);
  expect([run.status, run.warnings]).toEqual(['completed', expect.arrayContaining([expected])]);
  for (const { warnings } of [
    await callOk(org, 'GET', `/api/detections/${id}`),
    (await callOk(org, 'GET', '/api/detections')).detections.find((one: { id: string }) => one.id === id),
  ])
    expect(warnings).toEqual([{ ...expected, field }]);
});

test.each([
  [
    'no_entity_value',
    'entityField',
    { entityField: 'note', detectionQuery: 'SELECT note, country, _id, _time FROM signins' },
  ],
  ['no_row_times', 'detectionQuery', { detectionQuery: 'SELECT "user", country, _id FROM signins' }],
])('a run on rows without values warns with %s', async (code, field, change) => {
  const org = await startOrg();
  const { id } = await callOk(org, 'POST', '/api/detections', { ...detection, ...change });
  expect((await runNext(org, id)).warnings).toContainEqual(expect.objectContaining({ code }));
  expect((await callOk(org, 'GET', `/api/detections/${id}`)).warnings).toEqual([
    expect.objectContaining({ code, field }),
  ]);
});

test('a query with a column that no event has runs, with a warning of the record', async () => {
  const org = await startOrg();
  const { id } = await callOk(org, 'POST', '/api/detections', {
    ...detection,
    detectionQuery: 'SELECT nation FROM signins',
  });
  expect(await runNext(org, id)).toMatchObject({ status: 'completed' });
  expect((await callOk(org, 'GET', `/api/detections/${id}`)).warnings).toContainEqual(
    expect.objectContaining({
      code: 'unknown_column',
      field: 'detectionQuery',
      detail: expect.stringContaining('nation'),
    }),
  );
});

test('a query that the engine rejects is a warning of the record after its run', async () => {
  const org = await startOrg();
  const { id } = await callOk(org, 'POST', '/api/detections', {
    ...detection,
    detectionQuery: 'SELECT nation() FROM signins',
  });
  await runNext(org, id);
  expect((await callOk(org, 'GET', `/api/detections/${id}`)).warnings).toEqual([
    expect.objectContaining({ field: 'detectionQuery', detail: expect.stringContaining('nation') }),
  ]);
});

test('warnings stay while other fields change, and end when the mistake is mended', async () => {
  const org = await startOrg();
  const { id } = await callOk(org, 'POST', '/api/detections?validate=true', { ...detection, entityField: 'usr' });
  const renamed = await callOk(org, 'PUT', `/api/detections/${id}`, { name: 'Other' });
  expect(renamed.warnings).toHaveLength(1);
  expect((await callOk(org, 'GET', `/api/detections/${id}`)).warnings).toHaveLength(1);
  const changed = await callOk(org, 'PUT', `/api/detections/${id}?validate=true`, { entityField: 'country' });
  expect(changed.warnings).toBeUndefined();
  await runNext(org, id);
  expect((await callOk(org, 'GET', `/api/detections/${id}`)).warnings).toBeUndefined();
});

test('matches the entity field in any case', async () => {
  const org = await startOrg();
  const { id } = await callOk(org, 'POST', '/api/detections', { ...detection, entityField: 'COUNTRY' });
  expect((await runNext(org, id)).warnings).toEqual([]);
  expect(
    (await callOk(org, 'GET', `/api/hits?detection=${id}`)).hits.map(({ entity }: { entity: string }) => entity),
  ).toEqual(['NO']);
});

test('history that is loaded in the hour of creation counts at the first slot', async () => {
  const org = await createOrg();
  const { id } = await callOk(org, 'POST', '/api/detections', {
    ...detection,
    detectionCategory: 'first_occurrence',
    entityField: 'user',
  });
  time.now = new Date('2026-03-02T00:40:00Z');
  const hours = Array.from({ length: 12 }, (_, n) => new Date(Date.UTC(2026, 2, 1, 12 + n, 30)).toISOString());
  const lines = hours.map((at) => JSON.stringify({ '@timestamp': at, user: 'ada', country: 'NO' }));
  await callOk(org, 'POST', '/api/logs/signins?history=true', lines.join('\n'));
  const live = ['NO', 'KP'].map((country) =>
    JSON.stringify({ '@timestamp': '2026-03-02T00:50:00Z', user: 'ada', country }),
  );
  await callOk(org, 'POST', '/api/logs/signins', live.join('\n'));
  expect((await runNext(org, id)).warnings).toEqual([]);
  const { hits } = await callOk(org, 'GET', '/api/hits');
  expect(hits.map(({ entity }: { entity: string }) => entity)).toEqual(['ada']);
  const { rows } = await callOk(org, 'GET', `/api/hits/${hits[0].id}`);
  expect(JSON.stringify(rows)).toContain('KP');
  expect(JSON.stringify(rows)).not.toContain('"NO"');
});
