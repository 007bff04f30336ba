import { describe, expect, test } from 'vitest';
import { sql } from 'kysely';
import { inOrg, queryRows } from '../../platform/db/db.ts';
import { SiemError } from '../siem/connector.ts';
import { startApp } from '../../../test/support/harness.ts';
import { callOk, postDetection, postSuggestion } from '../../../test/support/detection/detection-factory.ts';

let now = new Date('2026-03-04T10:20:30.400Z');
const { newOrg, deps } = await startApp({
  clock: () => now,
  deps: {
    checkQuery: async (_orgId, _ref, query) => {
      if (query === 'broken')
        throw new SiemError({ kind: 'query_failed', blame: 'author', retryable: false, message: 'No.' });
    },
  },
});
const org = await newOrg();

const put = (id: string, body: unknown, headers?: Record<string, string>) =>
  org.call('PUT', `/api/detections/${id}`, body, headers);
const changed = async (id: string, body: unknown) => callOk(org, 'PUT', `/api/detections/${id}`, body);
const stored = <T>(statement: ReturnType<typeof sql<T>>): Promise<T[]> =>
  inOrg(deps.db, org.id, (tx) => queryRows(tx, statement));

describe('PUT', () => {
  test('changes only the fields that are present', async () => {
    const changes: Record<string, unknown> = {
      name: 'n',
      description: 'd',
      detectionCategory: 'custom',
      detectionQuery: 'select 2',
      headline: 'Sign-in of {{user}}',
      siemType: 'local',
      toolNames: ['get_rows'],
      tags: ['a'],
      modelAlias: 'analyst',
      planningMode: 'never',
      mode: 'sandbox',
      inputs: [{ type: 'text', name: 'a', description: '', required: true }],
      contextDocs: [{ provider: 'p', id: 'i', name: 'n', mimeType: 'text/plain' }],
      structuredOutputSchema: { type: 'object' },
      entityField: 'user',
      timeField: 'at',
      lookbackMinutes: 300,
      suppressionMinutes: 10,
    };
    let record = await postDetection(org, { detectionCadence: 'hourly' });
    for (const [field, value] of Object.entries(changes)) {
      const next = await changed(record.id, { [field]: value });
      const { updatedAt, revision, ...rest } = next;
      expect(rest).toEqual({ ...rest, ...without(record, ['updatedAt', 'revision']), [field]: value });
      expect(revision).toBe(record.revision + 1);
      expect(updatedAt > record.updatedAt).toBe(true);
      record = next;
    }
    expect(await callOk(org, 'GET', `/api/detections/${record.id}`)).toEqual(record);
  });

  test('resets nullable fields with null', async () => {
    const { id } = await postDetection(org, {
      description: 'd',
      headline: 'Sign-in of {{user}}',
      toolNames: ['get_rows'],
      siemType: 'local',
      detectionCadence: 'daily',
      customCronSchedule: '5 * * * *',
    });
    const nulls = {
      description: null,
      headline: null,
      toolNames: null,
      siemType: null,
      detectionCadence: null,
      customCronSchedule: null,
    };
    expect(await changed(id, nulls)).toMatchObject({
      description: '',
      toolNames: [],
      siemType: null,
      cronSchedule: null,
      enabled: false,
      triggerSummary: [],
    });
  });

  test.each([
    'name',
    'detectionCategory',
    'systemPrompt',
    'detectionQuery',
    'tags',
    'enabled',
    'modelAlias',
    'planningMode',
    'mode',
    'inputs',
    'contextDocs',
    'structuredOutputSchema',
    'connectionId',
    'entityField',
    'timeField',
    'lookbackMinutes',
    'suppressionMinutes',
  ])('rejects null for %s', async (field) => {
    const { id } = await postDetection(org);
    const response = await put(id, { [field]: null });
    expect([response.status, response.body.errors[0].pointer]).toEqual([400, `/${field}`]);
  });

  test.each([
    [{}],
    [{ name: 'Console sign-ins from new countries' }],
    [{ id: 'x', cronSchedule: '1 1 1 1 1', updatedAt: 'x' }],
    [{ systemPrompt: 'Judge whether the sign-in is the user.' }],
    [{ tags: ['A', 'a'] }],
  ])('with %j changes nothing, not even updatedAt', async (body) => {
    const record = await postDetection(org, { tags: ['a'] });
    now = new Date(now.getTime() + 1000);
    expect(await changed(record.id, body)).toEqual(record);
  });

  test('accepts a record that GET returned', async () => {
    const record = await postDetection(org, {
      detectionCadence: 'daily',
      customCronSchedule: '7 3 * * 7',
      toolNames: ['x'],
      siemType: 'splunk',
      tags: ['b'],
      inputs: [{ type: 'date', name: 'd' }],
    });
    now = new Date(now.getTime() + 1000);
    expect(await changed(record.id, record)).toEqual(record);
  });

  test('moves updatedAt forward even if the clock stops or goes back', async () => {
    const record = await postDetection(org);
    const first = await changed(record.id, { name: 'b' });
    const initial = now;
    now = new Date(initial.getTime() - 60_000);
    const second = await changed(record.id, { name: 'c' });
    now = initial;
    expect([record, first, second].map(({ updatedAt }) => Date.parse(updatedAt) - initial.getTime())).toEqual([
      0, 1, 2,
    ]);
    expect(second.createdAt).toBe(record.createdAt);
  });

  test.each([
    [{ name: '' }, '/name'],
    [{ detectionCadance: 'daily' }, '/detectionCadance'],
    [{ customCronSchedule: '* * * * *' }, '/customCronSchedule'],
    [{ enabled: true }, '/enabled'],
    [{ modelAlias: 'x' }, '/modelAlias'],
    [{ tags: ['ok', 'x'.repeat(101)] }, '/tags/1'],
  ])('rejects %j at %s and changes nothing', async (body, pointer) => {
    const record = await postDetection(org);
    const response = await put(record.id, { description: 'would change', ...body });
    expect([response.status, response.body.errors[0].pointer]).toEqual([400, pointer]);
    expect(await callOk(org, 'GET', `/api/detections/${record.id}`)).toEqual(record);
  });

  test('returns 409 for a deleted detection', async () => {
    const { id } = await postDetection(org);
    await callOk(org, 'DELETE', `/api/detections/${id}`);
    const response = await put(id, { name: 'x' });
    expect([response.status, response.body.code]).toEqual([409, 'conflict']);
  });

  test('leaves an open suggestion a suggestion', async () => {
    const { id } = await postSuggestion(org, { rationale: 'r' });
    expect(await changed(id, { name: 'x', detectionCadence: 'hourly' })).toMatchObject({
      name: 'x',
      isSuggestion: true,
      rationale: 'r',
      enabled: true,
    });
    expect(await stored(sql`select 1 from schedules where detection_id = ${id}`)).toEqual([]);
  });
});

describe('prompts and revisions', () => {
  test('create the next version for a new text and none for the same text', async () => {
    const record = await postDetection(org);
    const second = await changed(record.id, { systemPrompt: 'B' });
    expect(second.activeSystemPrompt).toMatchObject({ prompt: 'B', version: 2 });
    expect((await changed(record.id, { systemPrompt: 'B' })).updatedAt).toBe(second.updatedAt);
    const unchanged = await changed(record.id, { systemPrompt: record.activeSystemPrompt.prompt });
    expect(unchanged.activeSystemPrompt).toMatchObject({ prompt: record.activeSystemPrompt.prompt, version: 3 });
    const prompts = await stored<{ version: number }>(
      sql`select version, prompt from agent_prompts where agent_id = ${record.id} order by version`,
    );
    expect(prompts.map(({ version }) => version)).toEqual([1, 2, 3]);
    const revisions = await stored<{ definition: string; key_id: string }>(
      sql`select definition, key_id from agent_revisions where agent_id = ${record.id} order by revision`,
    );
    expect(revisions.map(({ definition }) => JSON.parse(definition).promptVersion)).toEqual([1, 2, 3]);
    expect(revisions[0]!.key_id).toBe(org.key.split('_')[1]);
  });

  test('are recorded in an audit row with the state before and after', async () => {
    const record = await postDetection(org);
    const after = await changed(record.id, { name: 'new' });
    const { entries } = await callOk(org, 'GET', '/api/audit?limit=1');
    expect(entries).toMatchObject([
      { action: 'detection.updated', resourceId: record.id, before: record, after, keyId: org.key.split('_')[1] },
    ]);
  });
});

describe('If-Match', () => {
  test('accepts the current record and returns 412 for an older one', async () => {
    const { id } = await postDetection(org);
    const { headers } = await org.call('GET', `/api/detections/${id}`);
    const first = await put(id, { name: 'a' }, { 'if-match': `"other", W/${String(headers['etag'])}` });
    expect(first.status).toBe(200);
    expect(first.headers['etag']).not.toBe(headers['etag']);
    const late = await put(id, { name: 'b' }, { 'if-match': String(headers['etag']) });
    expect([late.status, late.body.code]).toEqual([412, 'precondition_failed']);
    expect((await put(id, { name: 'c' }, { 'if-match': '*' })).status).toBe(200);
    expect((await put(id, { name: 'd' }, { 'if-match': '"nothing"' })).status).toBe(412);
  });

  test('lets exactly one of many concurrent updates through', async () => {
    const { id } = await postDetection(org);
    const etag = String((await org.call('GET', `/api/detections/${id}`)).headers['etag']);
    const responses = await Promise.all([1, 2, 3, 4, 5].map((n) => put(id, { name: `n${n}` }, { 'if-match': etag })));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 412, 412, 412, 412]);
  });
});

test('keeps a version for every prompt and an audit row for every change under concurrency', async () => {
  const { id } = await postDetection(org, { detectionCadence: 'hourly' });
  const bodies = Array.from({ length: 12 }, (_, n) =>
    n % 3 === 0
      ? { systemPrompt: `p${n}`, tags: [`t${n}`] }
      : n % 3 === 1
        ? { description: `d${n}` }
        : { customCronSchedule: `${n} * * * *` },
  );
  const responses = await Promise.all(bodies.map((body) => put(id, body)));
  expect(responses.map(({ status }) => status)).toEqual(bodies.map(() => 200));
  const record = await callOk(org, 'GET', `/api/detections/${id}`);
  expect(record.revision).toBe(13);
  expect(record.activeSystemPrompt.version).toBe(5);
  expect(new Set(responses.map(({ body }) => body.updatedAt)).size).toBe(12);
  const last = responses.map(({ body }) => body).toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))[0];
  expect(record).toEqual(last);
  const [counted] = await stored<{ n: number }>(sql`select count(*) as n from audit where resource_id = ${id}`);
  expect(counted!.n).toBe(13);
});

test('checks the updated detection with ?validate=true', async () => {
  const { id } = await postDetection(org, { detectionQuery: 'broken' });
  const call = (body: unknown) => org.call('PUT', `/api/detections/${id}?validate=true`, body);
  expect((await call({ name: 'x' })).status).toBe(422);
  expect((await call({ detectionQuery: 'fine' })).status).toBe(200);
  expect((await call({ toolNames: ['nope'] })).status).toBe(422);
  expect((await org.call('PUT', '/api/detections/0197a0c0-0000-7000-8000-000000000000?validate=true', {})).status).toBe(
    404,
  );
});

function without(record: Record<string, unknown>, fields: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([field]) => !fields.includes(field)));
}
