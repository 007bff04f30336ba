import { describe, expect, test } from 'vitest';
import { sql } from 'kysely';
import { SiemError } from '../siem/connector.ts';
import { startApp } from '../../../test/support/harness.ts';
import {
  callOk,
  detectionBody,
  postDetection,
  postSuggestion,
  queryOrg,
} from '../../../test/support/detection/detection-factory.ts';
import { Detection } from './record/detection.schema.ts';
import { verdictSchema } from './record/field-schemas.ts';

let now = new Date('2026-03-04T10:20:30.400Z');
const asks: string[] = [];
const { newOrg, deps } = await startApp({
  clock: () => now,
  deps: {
    checkQuery: async (_orgId, _ref, query) => {
      asks.push(query);
      if (!query.startsWith('broken')) return;
      const message = 'This is no SELECT.';
      throw new SiemError({ kind: 'query_not_allowed', blame: 'author', retryable: false, message });
    },
  },
});
const org = await newOrg();

describe('the created record', () => {
  test('has every field with its default', async () => {
    const record = await postDetection(org);
    const { id, triggerSummary, activeSystemPrompt, ...rest } = record;
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(activeSystemPrompt).toEqual({
      id: expect.any(String),
      prompt: 'Judge whether the sign-in is the user.',
      description: '',
      version: 1,
      createdAt: '2026-03-04T10:20:30.400Z',
    });
    expect(triggerSummary).toEqual([]);
    expect(rest).toEqual({
      organizationId: org.id,
      name: 'Console sign-ins from new countries',
      description: '',
      createdAt: '2026-03-04T10:20:30.400Z',
      updatedAt: '2026-03-04T10:20:30.400Z',
      deletedAt: null,
      toolNames: [],
      inputs: [],
      modelAlias: 'default',
      planningMode: 'auto',
      mode: 'standard',
      agentType: 'detection',
      isBuiltIn: false,
      builtInAgentType: 'threat-research',
      cronSchedule: null,
      enabled: false,
      contextDocs: [],
      workflowStoryImportId: null,
      structuredOutputSchema: verdictSchema,
      tags: [],
      detectionCategory: 'first_occurrence',
      detectionQuery: 'select user, country from auth',
      siemType: null,
      isSuggestion: false,
      lastDetectionRunAt: null,
      runs30d: 0,
      hits30d: 0,
      avgEvalScore30d: null,
      detectionCadence: null,
      customCronSchedule: null,
      revision: 1,
    });
    expect(() => Detection.strict().parse(record)).not.toThrow();
    expect(await callOk(org, 'GET', `/api/detections/${id}`)).toEqual(record);
  });

  test('has every optional field that was set', async () => {
    const fields = {
      description: 'Finds what was not there before.',
      siemType: 'Splunk Cloud',
      toolNames: ['get_rows', 'get_rows', 'made_up'],
      detectionCadence: 'daily',
      customCronSchedule: ' 15  6\t* * MON-fri ',
      tags: ['Identity', 'ATTACK.T1078', 'identity', ' padded '],
      enabled: false,
      modelAlias: 'analyst',
      planningMode: 'always',
      mode: 'sandbox',
      inputs: [
        { type: 'text', name: 'ticket', description: 'Ticket number', required: true },
        { type: 'text', name: 'note' },
      ],
      contextDocs: [{ provider: 'google_drive', id: 'd1', name: 'Runbook', mimeType: 'text/plain' }],
      structuredOutputSchema: {
        type: 'object',
        properties: { 'x-mine': { type: 'string' } },
        'x-service': { preset: 'card' },
      },
      entityField: 'user',
      timeField: 'at',
      lookbackMinutes: 11_520,
      suppressionMinutes: 0,
    };
    const record = await postDetection(org, fields);
    expect(record).toMatchObject({
      ...fields,
      customCronSchedule: '15 6 * * MON-fri',
      cronSchedule: '15 6 * * MON-fri',
      tags: ['identity', 'attack.t1078', ' padded '],
      inputs: [fields.inputs[0], { type: 'text', name: 'note', description: '', required: false }],
      triggerSummary: [{ id: expect.any(String), source: 'cron', name: 'Schedule', enabled: false }],
      warnings: [
        { code: 'unknown_tool', field: 'toolNames', detail: 'There is no tool named "made_up".' },
        {
          code: 'no_connection',
          field: 'siemType',
          detail: expect.stringContaining('There is no connection to a SIEM of type "Splunk Cloud"'),
        },
      ],
    });
    expect(await callOk(org, 'GET', `/api/detections/${record.id}`)).toEqual(record);
  });

  test('accepts null where the interface allows it', async () => {
    const nulls = {
      description: null,
      siemType: null,
      toolNames: null,
      detectionCadence: null,
      customCronSchedule: null,
    };
    expect(await postDetection(org, nulls)).toMatchObject({
      description: '',
      siemType: null,
      toolNames: [],
      cronSchedule: null,
      enabled: false,
    });
  });

  test.each([
    ['hourly', '0 * * * *'],
    ['daily', '0 0 * * *'],
    ['weekly', '0 0 * * 1'],
  ])('with cadence %s has cron %s and is enabled', async (detectionCadence, cronSchedule) => {
    const record = await postDetection(org, { detectionCadence });
    expect(record).toMatchObject({ cronSchedule, enabled: true, triggerSummary: [{ source: 'cron', enabled: true }] });
  });

  test('ignores fields in the body that only the service sets', async () => {
    const sent = {
      id: 'x',
      organizationId: 1,
      createdAt: 'x',
      cronSchedule: '* * * * *',
      runs30d: 7,
      isSuggestion: true,
      isBuiltIn: true,
      deletedAt: 'x',
      agentType: 'response',
      revision: 9,
    };
    expect(await postDetection(org, sent)).toMatchObject({
      cronSchedule: null,
      runs30d: 0,
      isSuggestion: false,
      isBuiltIn: false,
      deletedAt: null,
      agentType: 'detection',
      revision: 1,
    });
  });

  test('counts code points for length limits and trims nothing', async () => {
    const fields = {
      name: ` ${'😀'.repeat(253)} `,
      description: '😀'.repeat(1000),
      tags: ['😀'.repeat(100)],
      detectionQuery: '\n',
    };
    expect(await postDetection(org, { ...fields, systemPrompt: ' ' })).toMatchObject(fields);
  });
});

test('accepts a cron expression only if it occurs within five years of slot time', async () => {
  const before = now;
  now = new Date('2028-01-01T00:00:00Z');
  const { cronSchedule } = await postDetection(org, { customCronSchedule: '0 0 29 2 */7' });
  expect(cronSchedule).toBe('0 0 29 2 */7');
  now = before;
});

test('accepts a look-back of twice the longest interval, and any look-back without a schedule', async () => {
  for (const fields of [{ lookbackMinutes: 120, detectionCadence: 'hourly' }, { lookbackMinutes: 1 }])
    expect(await postDetection(org, fields)).toMatchObject(fields);
});

test('stores the prompt, first revision, schedule and audit row with the agent', async () => {
  const record = await postDetection(org, { detectionCadence: 'hourly', lookbackMinutes: 600 });
  const [revision] = await queryOrg(
    deps,
    org,
    sql<{ definition: string }>`select definition from agent_revisions where agent_id = ${record.id}`,
  );
  expect(JSON.parse(revision!.definition)).toMatchObject({
    detectionQuery: 'select user, country from auth',
    systemPrompt: record.activeSystemPrompt.prompt,
    promptVersion: 1,
    cronSchedule: '0 * * * *',
    lookbackMinutes: 600,
    suppressionMinutes: 360,
  });
  const schedule = sql`select cron, active, lookback_minutes, coverage_from, next_slot_at from schedules where detection_id = ${record.id}`;
  expect(await queryOrg(deps, org, schedule)).toEqual([
    {
      cron: '0 * * * *',
      active: true,
      lookback_minutes: 600,
      coverage_from: new Date('2026-03-04T10:00:00Z'),
      next_slot_at: new Date('2026-03-04T11:00:00Z'),
    },
  ]);
  const audit = await queryOrg(
    deps,
    org,
    sql<{ after: string }>`select action, resource_type, before, after from audit where resource_id = ${record.id}`,
  );
  expect(audit).toMatchObject([{ action: 'detection.created', resource_type: 'detection', before: null }]);
  expect(JSON.parse(audit[0]!.after)).toEqual(record);
});

describe('suggestions', () => {
  test('have rationale, sources and an estimate, and no schedule before they are accepted', async () => {
    const source = { rationale: 'Seen in the feed.', sourceItemIds: ['i1'] };
    const record = await postSuggestion(org, { ...source, detectionCadence: 'hourly' });
    expect(record).toMatchObject({
      ...source,
      isSuggestion: true,
      estimate: null,
      enabled: true,
      cronSchedule: '0 * * * *',
    });
    expect(await queryOrg(deps, org, sql`select 1 from schedules where detection_id = ${record.id}`)).toEqual([]);
  });

  test.each([
    [{ rationale: 5 }, '/rationale'],
    [{ rationale: 'x'.repeat(10_001) }, '/rationale'],
    [{ sourceItemIds: [''] }, '/sourceItemIds/0'],
    [{ sourceItemIds: null }, '/sourceItemIds'],
    [{ reason: 'x' }, '/reason'],
  ])('rejects %j at %s', async (more, pointer) => {
    const { status, body } = await org.call('POST', '/api/detections/suggestions', detectionBody(more));
    expect(status).toBe(400);
    expect(body.errors).toContainEqual(expect.objectContaining({ pointer }));
  });
});

describe('validation', () => {
  test('checks the query and creates a detection that can run', async () => {
    asks.length = 0;
    expect((await org.call('POST', '/api/detections?validate=true', detectionBody())).status).toBe(200);
    expect((await org.call('POST', '/api/detections?validate=false', detectionBody())).status).toBe(200);
    expect(asks).toEqual(['select user, country from auth']);
  });

  test('returns 422 and creates nothing if the detection cannot run', async () => {
    const before = (await callOk(org, 'GET', '/api/detections')).detections.length;
    const body = detectionBody({ detectionQuery: 'broken', toolNames: ['nope'] });
    const response = await org.call('POST', '/api/detections?validate=true', body);
    expect(response.status).toBe(422);
    expect(response.body).toMatchObject({
      code: 'check_failed',
      errors: [
        { pointer: '/toolNames', code: 'unknown_tool' },
        { pointer: '/detectionQuery', code: 'query_not_allowed', detail: 'This is no SELECT.' },
      ],
    });
    expect((await callOk(org, 'GET', '/api/detections')).detections.length).toBe(before);
  });

  test('does not query a SIEM without a connection', async () => {
    asks.length = 0;
    const response = await org.call('POST', '/api/detections?validate=true', detectionBody({ siemType: 'splunk' }));
    expect([response.status, response.body.errors[0].pointer, asks.length]).toEqual([422, '/siemType', 0]);
  });

  test('rejects any other value of validate', async () => {
    const response = await org.call('POST', '/api/detections?validate=yes', detectionBody());
    expect([response.status, response.body.errors[0].pointer]).toEqual([400, 'query/validate']);
  });
});
