import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createScriptedModels } from '../../../../test/support/models/scripted-models.ts';
import { startApp } from '../../../../test/support/harness.ts';
import { callOk, detectionBody, postDetection } from '../../../../test/support/detection/detection-factory.ts';

const { deps, newOrg } = await startApp();
const org = await newOrg();
type Json = ReturnType<typeof JSON.parse>;

const urlOf = ({ id }: { id: string }): string => `/api/detections/${id}`;
const change = (record: { id: string }, body: unknown): Promise<Json> => callOk(org, 'PUT', urlOf(record), body);
const definitionOf = async (record: { id: string }, n: number): Promise<Json> =>
  (await callOk(org, 'GET', `${urlOf(record)}/revisions/${n}`)).definition;

test('records each change as a revision with fields, author and time', async () => {
  const record = await postDetection(org, { detectionCadence: 'daily' });
  const second = await change(record, { name: 'other', tags: ['A'] });
  const third = await change(record, { systemPrompt: 'new', customCronSchedule: '5 * * * *' });
  const { revisions } = await callOk(org, 'GET', `${urlOf(record)}/revisions`);
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
  const { changes } = await callOk(org, 'GET', `${urlOf(record)}/revisions/diff?from=3&to=2`);
  expect(changes).toMatchObject([
    { field: 'promptVersion', from: 2, to: 1 },
    { field: 'systemPrompt', from: 'new', diff: { added: 1, removed: 1 } },
    { field: 'customCronSchedule', from: '5 * * * *', to: null, diff: { added: 0, removed: 1 } },
  ]);
});

test('compares the texts of documents line by line', async () => {
  const docWith = (content: string) => ({
    provider: 'wiki',
    id: '1',
    name: 'runbook',
    mimeType: 'text/plain',
    content,
  });
  const record = await postDetection(org, { contextDocs: [docWith('Backups run at night.\nNobody signs in.')] });
  await change(record, { contextDocs: [docWith('Backups run at noon.\nNobody signs in.')] });
  const { changes } = await callOk(org, 'GET', `${urlOf(record)}/revisions/diff?from=1&to=2`);
  expect(changes).toMatchObject([{ field: 'contextDocs', diff: { added: 1, removed: 1 } }]);
  const lines = changes[0].diff.lines.filter(({ op }: Json) => op !== 'same');
  expect(lines.map(({ op, text }: Json) => [op, text.trim()])).toEqual([
    ['removed', 'Backups run at night.'],
    ['added', 'Backups run at noon.'],
  ]);
});

test('restores a revision as a new one with the same definition, and changes nothing the second time', async () => {
  const record = await postDetection(org, {
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
  const restored = await callOk(org, 'POST', `${urlOf(record)}/revisions/1/restore`);
  const { updatedAt: _, revision: __, ...rest } = record;
  expect(restored).toMatchObject({ ...rest, revision: 3 });
  expect(await definitionOf(record, 3)).toEqual(await definitionOf(record, 1));
  expect(await callOk(org, 'POST', `${urlOf(record)}/revisions/1/restore`)).toEqual(restored);
  expect(
    (await org.call('POST', `${urlOf(record)}/revisions/2/restore`, undefined, { 'if-match': '"x"' })).status,
  ).toBe(412);
});

test('unsets fields that the restored revision did not have', async () => {
  const record = await postDetection(org);
  const schema = { type: 'object', properties: { risk: { type: 'string' } } };
  await change(record, {
    entityField: 'user',
    timeField: 'at',
    lookbackMinutes: 500,
    suppressionMinutes: 5,
    siemType: 'local',
    structuredOutputSchema: schema,
  });
  const restored = await callOk(org, 'POST', `${urlOf(record)}/revisions/1/restore`);
  expect(restored.structuredOutputSchema).toEqual(record.structuredOutputSchema);
  for (const field of ['entityField', 'timeField', 'lookbackMinutes']) expect(restored).not.toHaveProperty(field);
  expect(await definitionOf(record, 3)).toEqual(await definitionOf(record, 1));
});

test('applies the usual enabled rules to the schedule of a restored revision', async () => {
  const without = await postDetection(org);
  expect(await change(without, { detectionCadence: 'hourly' })).toMatchObject({ enabled: true });
  const unset = await callOk(org, 'POST', `${urlOf(without)}/revisions/1/restore`);
  expect(unset).toMatchObject({ enabled: false, cronSchedule: null, triggerSummary: [] });
  expect(await callOk(org, 'POST', `${urlOf(without)}/revisions/2/restore`)).toMatchObject({ enabled: true });
  const off = await postDetection(org, { detectionCadence: 'hourly' });
  await change(off, { detectionCadence: 'daily', enabled: false });
  // A change of the schedule does not enable a detection that a person disabled.
  expect(await callOk(org, 'POST', `${urlOf(off)}/revisions/1/restore`)).toMatchObject({
    enabled: false,
    cronSchedule: '0 * * * *',
  });
});

test('rejects a definition that is no longer valid at its field and changes nothing', async () => {
  deps.models = createScriptedModels({ old: 'http://127.0.0.1:9/v1' });
  const record = await postDetection(org, { modelAlias: 'old' });
  const next = await change(record, { modelAlias: 'analyst' });
  deps.models = createScriptedModels({});
  const refused = await org.call('POST', `${urlOf(record)}/revisions/1/restore`);
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/modelAlias']);
  expect(await callOk(org, 'GET', urlOf(record))).toEqual(next);
});

test('numbers revisions without gaps or duplicates under concurrent restores', async () => {
  const record = await postDetection(org, { systemPrompt: 'one' });
  await change(record, { systemPrompt: 'two', name: 'two' });
  const responses = await Promise.all(
    [1, 2, 1, 2, 1, 2, 1, 1].map((n) => org.call('POST', `${urlOf(record)}/revisions/${n}/restore`)),
  );
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  const { revisions } = await callOk(org, 'GET', `${urlOf(record)}/revisions`);
  const last = revisions[0].revision;
  expect(revisions.map(({ revision }: Json) => revision)).toEqual(Array.from({ length: last }, (_, n) => last - n));
  // Adjacent revisions always differ, because restoring the current definition writes nothing.
  expect(revisions.slice(0, -1).every(({ changed }: Json) => changed.length > 0)).toBe(true);
  expect((await callOk(org, 'GET', `${urlOf(record)}/prompts`)).prompts).toHaveLength(2);
});

test('returns 404 for another organization and an unknown revision, and 409 for a deleted detection', async () => {
  const record = await postDetection(org);
  const otherOrg = await newOrg();
  for (const path of ['revisions', 'revisions/1', 'revisions/diff?from=1&to=1'])
    expect((await otherOrg.call('GET', `${urlOf(record)}/${path}`)).status).toBe(404);
  expect((await otherOrg.call('POST', `${urlOf(record)}/revisions/1/restore`)).status).toBe(404);
  expect((await org.call('POST', `${urlOf(record)}/revisions/7/restore`)).status).toBe(404);
  expect((await org.call('GET', `${urlOf(record)}/revisions/diff?from=1`)).status).toBe(400);
  await callOk(org, 'DELETE', urlOf(record));
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

test('restores every revision of any history to its original definition', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(bodies, { minLength: 1, maxLength: 4 }), fc.nat(), async (history, pick) => {
      const record = await callOk(org, 'POST', '/api/detections', detectionBody());
      let revision: number = record.revision;
      for (const body of history) ({ revision } = await change(record, body));
      const n = 1 + (pick % revision);
      await callOk(org, 'POST', `${urlOf(record)}/revisions/${n}/restore`);
      const { revisions } = await callOk(org, 'GET', `${urlOf(record)}/revisions?limit=1`);
      expect(await definitionOf(record, revisions[0].revision)).toEqual(await definitionOf(record, n));
    }),
    { numRuns: 25 },
  );
});
