import { describe, expect, test } from 'vitest';
import { sql } from 'kysely';
import { inOrg, queryRows } from '../../platform/db/db.ts';
import { startApp } from '../../../test/support/harness.ts';
import { callOk, detectionBody, postDetection } from '../../../test/support/detection/detection-factory.ts';
import { Detection } from './record/detection.schema.ts';
import { verdictSchema } from './record/verdict.schema.ts';

let now = new Date('2026-03-04T10:20:30.400Z');
const { newOrg, deps } = await startApp({ clock: () => now });
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
    const name = ` ${'😀'.repeat(253)} `;
    const description = '😀'.repeat(1000);
    const tag = '😀'.repeat(100);
    expect(
      await postDetection(org, { name, description, tags: [tag], systemPrompt: ' ', detectionQuery: '\n' }),
    ).toMatchObject({
      name,
      description,
      tags: [tag],
      detectionQuery: '\n',
    });
  });
});

test('accepts a cron expression only if it occurs within five years of slot time', async () => {
  const before = now;
  now = new Date('2028-01-01T00:00:00Z');
  expect(await postDetection(org, { customCronSchedule: '0 0 29 2 */7' })).toMatchObject({
    cronSchedule: '0 0 29 2 */7',
  });
  now = before;
});

test('accepts a look-back of twice the longest interval, and any look-back without a schedule', async () => {
  expect(await postDetection(org, { lookbackMinutes: 120, detectionCadence: 'hourly' })).toMatchObject({
    lookbackMinutes: 120,
  });
  expect(await postDetection(org, { lookbackMinutes: 1 })).toMatchObject({ lookbackMinutes: 1 });
});

test('stores the prompt, first revision, schedule and audit row with the agent', async () => {
  const record = await postDetection(org, { detectionCadence: 'hourly', lookbackMinutes: 600 });
  const found = await inOrg(deps.db, org.id, async (tx) => ({
    revision: await queryRows(
      tx,
      sql<{ definition: string }>`select definition from agent_revisions where agent_id = ${record.id}`,
    ),
    schedule: await queryRows(
      tx,
      sql`select cron, active, lookback_minutes, coverage_from, next_slot_at from schedules where detection_id = ${record.id}`,
    ),
    audit: await queryRows(
      tx,
      sql<{ after: string }>`select action, resource_type, before, after from audit where resource_id = ${record.id}`,
    ),
  }));
  expect(JSON.parse(found.revision[0]!.definition)).toMatchObject({
    detectionQuery: 'select user, country from auth',
    systemPrompt: record.activeSystemPrompt.prompt,
    promptVersion: 1,
    cronSchedule: '0 * * * *',
    lookbackMinutes: 600,
    suppressionMinutes: 360,
  });
  expect(found.schedule).toEqual([
    {
      cron: '0 * * * *',
      active: true,
      lookback_minutes: 600,
      coverage_from: new Date('2026-03-04T10:00:00Z'),
      next_slot_at: new Date('2026-03-04T11:00:00Z'),
    },
  ]);
  expect(found.audit).toMatchObject([{ action: 'detection.created', resource_type: 'detection', before: null }]);
  expect(JSON.parse(found.audit[0]!.after)).toEqual(record);
});

describe('suggestions', () => {
  test('have rationale, sources and an estimate, and no schedule before they are accepted', async () => {
    const record = await callOk(
      org,
      'POST',
      '/api/detections/suggestions',
      detectionBody({ rationale: 'Seen in the feed.', sourceItemIds: ['i1'], detectionCadence: 'hourly' }),
    );
    expect(record).toMatchObject({
      isSuggestion: true,
      rationale: 'Seen in the feed.',
      sourceItemIds: ['i1'],
      estimate: null,
      enabled: true,
      cronSchedule: '0 * * * *',
    });
    expect(
      await inOrg(deps.db, org.id, (tx) =>
        queryRows(tx, sql`select 1 from schedules where detection_id = ${record.id}`),
      ),
    ).toEqual([]);
  });

  test.each([
    [{ rationale: 5 }, '/rationale'],
    [{ rationale: 'x'.repeat(10_001) }, '/rationale'],
    [{ sourceItemIds: [''] }, '/sourceItemIds/0'],
    [{ sourceItemIds: null }, '/sourceItemIds'],
    [{ reason: 'x' }, '/reason'],
  ])('rejects %j at %s', async (more, pointer) => {
    const response = await org.call('POST', '/api/detections/suggestions', detectionBody(more));
    expect(response.status).toBe(400);
    expect(response.body.errors).toContainEqual(expect.objectContaining({ pointer }));
  });
});
