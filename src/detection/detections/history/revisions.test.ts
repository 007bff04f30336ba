import fc from 'fast-check';
import { expect, test } from 'vitest';
import { modelsAt } from '../../../../test/support/models/scripted-models.ts';
import { startApp } from '../../../../test/support/harness.ts';
import { asked, input, made } from '../../../../test/support/detection/detection-factory.ts';

const { deps, newOrg } = await startApp();
const org = await newOrg();
type Json = ReturnType<typeof JSON.parse>;

const urlOf = ({ id }: { id: string }): string => `/api/detections/${id}`;
const change = (record: { id: string }, body: unknown): Promise<Json> => asked(org, 'PUT', urlOf(record), body);
const definitionOf = async (record: { id: string }, n: number): Promise<Json> =>
  (await asked(org, 'GET', `${urlOf(record)}/revisions/${n}`)).definition;

test('each change of the record is a revision that says what, who and when', async () => {
  const record = await made(org, { detectionCadence: 'daily' });
  const second = await change(record, { name: 'other', tags: ['A'] });
  const third = await change(record, { systemPrompt: 'new', customCronSchedule: '5 * * * *' });
  const { revisions } = await asked(org, 'GET', `${urlOf(record)}/revisions`);
  const author = { keyId: org.key.split('_')[1], name: 'test' };
  expect(revisions).toEqual([
    {
      revision: 3,
      createdAt: third.updatedAt,
      author,
      active: true,
      changed: ['promptVersion', 'systemPrompt', 'customCronSchedule'],
    },
    { revision: 2, createdAt: second.updatedAt, author, active: false, changed: ['name', 'tags'] },
    { revision: 1, createdAt: record.updatedAt, author, active: false, changed: [] },
  ]);
  const { changes } = await asked(org, 'GET', `${urlOf(record)}/revisions/diff?from=3&to=2`);
  expect(changes).toMatchObject([
    { field: 'promptVersion', from: 2, to: 1 },
    { field: 'systemPrompt', from: 'new', diff: { added: 1, removed: 1 } },
    { field: 'customCronSchedule', from: '5 * * * *', to: null },
  ]);
});

test('a restored revision is a new one with the same definition, and once is enough', async () => {
  const record = await made(org, {
    detectionCadence: 'hourly',
    tags: ['a'],
    entityField: 'user',
    lookbackMinutes: 200,
  });
  await change(record, {
    detectionQuery: 'select 2',
    customCronSchedule: '0 3 * * 1',
    tags: [],
    lookbackMinutes: 30_000,
  });
  const back = await asked(org, 'POST', `${urlOf(record)}/revisions/1/restore`);
  const { updatedAt: _, revision: __, ...rest } = record;
  expect(back).toMatchObject({ ...rest, revision: 3 });
  expect(await definitionOf(record, 3)).toEqual(await definitionOf(record, 1));
  expect(await asked(org, 'POST', `${urlOf(record)}/revisions/1/restore`)).toEqual(back);
  expect(
    (await org.call('POST', `${urlOf(record)}/revisions/2/restore`, undefined, { 'if-match': '"x"' })).status,
  ).toBe(412);
});

test('a field that was not set is unset again', async () => {
  const record = await made(org);
  const schema = { type: 'object', properties: { risk: { type: 'string' } } };
  await change(record, {
    entityField: 'user',
    timeField: 'at',
    lookbackMinutes: 500,
    suppressionMinutes: 5,
    siemType: 'local',
    structuredOutputSchema: schema,
  });
  const back = await asked(org, 'POST', `${urlOf(record)}/revisions/1/restore`);
  expect(back.structuredOutputSchema).toEqual(record.structuredOutputSchema);
  for (const field of ['entityField', 'timeField', 'lookbackMinutes']) expect(back).not.toHaveProperty(field);
  expect(await definitionOf(record, 3)).toEqual(await definitionOf(record, 1));
});

test('the schedule of an older revision follows the rules of any change', async () => {
  const without = await made(org);
  expect(await change(without, { detectionCadence: 'hourly' })).toMatchObject({ enabled: true });
  const unset = await asked(org, 'POST', `${urlOf(without)}/revisions/1/restore`);
  expect(unset).toMatchObject({ enabled: false, cronSchedule: null, triggerSummary: [] });
  expect(await asked(org, 'POST', `${urlOf(without)}/revisions/2/restore`)).toMatchObject({ enabled: true });
  const off = await made(org, { detectionCadence: 'hourly' });
  await change(off, { detectionCadence: 'daily', enabled: false });
  // A change of the schedule keeps what a person switched off.
  expect(await asked(org, 'POST', `${urlOf(off)}/revisions/1/restore`)).toMatchObject({
    enabled: false,
    cronSchedule: '0 * * * *',
  });
});

test('a definition that would not be taken today is refused by its field, and nothing changes', async () => {
  deps.models = modelsAt({ old: 'http://127.0.0.1:9/v1' });
  const record = await made(org, { modelAlias: 'old' });
  const next = await change(record, { modelAlias: 'analyst' });
  deps.models = modelsAt({});
  const refused = await org.call('POST', `${urlOf(record)}/revisions/1/restore`);
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/modelAlias']);
  expect(await asked(org, 'GET', urlOf(record))).toEqual(next);
});

test('restored at once by many: one revision each way, no two with one number', async () => {
  const record = await made(org, { systemPrompt: 'one' });
  await change(record, { systemPrompt: 'two', name: 'two' });
  const answers = await Promise.all(
    [1, 2, 1, 2, 1, 2, 1, 1].map((n) => org.call('POST', `${urlOf(record)}/revisions/${n}/restore`)),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const { revisions } = await asked(org, 'GET', `${urlOf(record)}/revisions`);
  const last = revisions[0].revision;
  expect(revisions.map(({ revision }: Json) => revision)).toEqual(Array.from({ length: last }, (_, n) => last - n));
  // Neighbours always differ: a restore of what is already there wrote nothing.
  expect(revisions.slice(0, -1).every(({ changed }: Json) => changed.length > 0)).toBe(true);
  expect((await asked(org, 'GET', `${urlOf(record)}/prompts`)).prompts).toHaveLength(2);
});

test('another organization does not know it, a deleted one is not changed, a number that is not there is not found', async () => {
  const record = await made(org);
  const stranger = await newOrg();
  for (const path of ['revisions', 'revisions/1', 'revisions/diff?from=1&to=1'])
    expect((await stranger.call('GET', `${urlOf(record)}/${path}`)).status).toBe(404);
  expect((await stranger.call('POST', `${urlOf(record)}/revisions/1/restore`)).status).toBe(404);
  expect((await org.call('POST', `${urlOf(record)}/revisions/7/restore`)).status).toBe(404);
  expect((await org.call('GET', `${urlOf(record)}/revisions/diff?from=1`)).status).toBe(400);
  await asked(org, 'DELETE', urlOf(record));
  expect((await org.call('POST', `${urlOf(record)}/revisions/1/restore`)).status).toBe(409);
});

const bodies = fc.record(
  {
    name: fc.constantFrom('a', 'b'),
    detectionQuery: fc.constantFrom('select 1', 'select 2'),
    systemPrompt: fc.constantFrom('p', 'q'),
    detectionCadence: fc.constantFrom('hourly', 'weekly', null),
    customCronSchedule: fc.constantFrom('7 * * * *', null),
    tags: fc.constantFrom(['x'], []),
    toolNames: fc.constantFrom(['get_rows'], null),
  },
  { requiredKeys: [] },
);

test('after any history every revision can be restored and is then what it was', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(bodies, { minLength: 1, maxLength: 4 }), fc.nat(), async (history, pick) => {
      const record = await asked(org, 'POST', '/api/detections', input());
      let revision: number = record.revision;
      for (const body of history) ({ revision } = await change(record, body));
      const n = 1 + (pick % revision);
      await asked(org, 'POST', `${urlOf(record)}/revisions/${n}/restore`);
      const { revisions } = await asked(org, 'GET', `${urlOf(record)}/revisions?limit=1`);
      expect(await definitionOf(record, revisions[0].revision)).toEqual(await definitionOf(record, n));
    }),
    { numRuns: 25 },
  );
});
