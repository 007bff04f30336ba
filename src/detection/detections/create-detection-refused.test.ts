import { describe, expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';
import { detectionBody } from '../../../test/support/detection/detection-factory.ts';

const { newOrg } = await startApp({ clock: () => new Date('2026-03-04T10:20:30.400Z') });
const org = await newOrg();

async function refused(body: unknown): Promise<{ pointer: string; code: string }[]> {
  const { status, body: problem } = await org.call('POST', '/api/detections', body);
  expect(status).toBe(400);
  expect(problem).toMatchObject({ status: 400, code: 'validation_failed' });
  return problem.errors;
}

describe('create returns 400 with a pointer', () => {
  test.each([
    [{ name: '' }, '/name', 'too_small'],
    [{ name: 'x'.repeat(256) }, '/name', 'too_big'],
    [{ name: '😀'.repeat(256) }, '/name', 'too_big'],
    [{ name: null }, '/name', 'invalid_type'],
    [{ name: 5 }, '/name', 'invalid_type'],
    [{ name: undefined }, '/name', 'invalid_type'],
    [{ detectionQuery: 'SELECT \u0000' }, '/detectionQuery', 'invalid_text'],
    [{ description: 'x'.repeat(1001) }, '/description', 'too_big'],
    [{ detectionCategory: 'other' }, '/detectionCategory', 'invalid_value'],
    [{ detectionCategory: null }, '/detectionCategory', 'invalid_value'],
    [{ detectionCategory: undefined }, '/detectionCategory', 'invalid_value'],
    [{ systemPrompt: '' }, '/systemPrompt', 'too_small'],
    [{ systemPrompt: undefined }, '/systemPrompt', 'invalid_type'],
    [{ detectionQuery: '' }, '/detectionQuery', 'too_small'],
    [{ detectionQuery: null }, '/detectionQuery', 'invalid_type'],
    [{ headline: '' }, '/headline', 'too_small'],
    [{ headline: `Deleted ${'x'.repeat(200)}` }, '/headline', 'too_big'],
    [{ headline: 'Deleted on {{host' }, '/headline', 'custom'],
    [{ siemType: 1 }, '/siemType', 'invalid_type'],
    [{ toolNames: 'get_rows' }, '/toolNames', 'invalid_type'],
    [{ toolNames: ['a', 1] }, '/toolNames/1', 'invalid_type'],
    [{ detectionCadence: 'monthly' }, '/detectionCadence', 'invalid_value'],
    [{ customCronSchedule: 5 }, '/customCronSchedule', 'invalid_type'],
    [{ customCronSchedule: '' }, '/customCronSchedule', 'invalid_cron'],
    [{ customCronSchedule: '*/30 * * * *' }, '/customCronSchedule', 'invalid_cron'],
    [{ customCronSchedule: '0,30 * * * *' }, '/customCronSchedule', 'invalid_cron'],
    [{ customCronSchedule: '@daily' }, '/customCronSchedule', 'invalid_cron'],
    [{ customCronSchedule: '0 0 0 * * *' }, '/customCronSchedule', 'invalid_cron'],
    [{ customCronSchedule: '0 0 30 2 *' }, '/customCronSchedule', 'invalid_cron'],
    [{ customCronSchedule: '0 0 29 2 */7' }, '/customCronSchedule', 'invalid_cron'],
    [{ customCronSchedule: 'CRON_TZ=UTC 0 9 * * *' }, '/customCronSchedule', 'invalid_cron'],
    [{ cronTimezone: 'Europe/Atlantis' }, '/cronTimezone', 'unknown_time_zone'],
    [{ cronTimezone: '+01:00' }, '/cronTimezone', 'unknown_time_zone'],
    [{ cronTimezone: 5 }, '/cronTimezone', 'invalid_type'],
    [{ tuning: null }, '/tuning', 'invalid_type'],
    [{ tuning: { minimumCount: -1 } }, '/tuning/minimumCount', 'too_small'],
    [{ tuning: { sensitivity: 'huge' } }, '/tuning/sensitivity', 'invalid_value'],
    [{ tuning: { historyDays: 183 } }, '/tuning/historyDays', 'too_big'],
    [{ tuning: { minimum: 1 } }, '/tuning/minimum', 'unknown_field'],
    [{ detectionCategory: 'custom', tuning: { sequenceHours: 1 } }, '/tuning/sequenceHours', 'not_used'],
    [{ detectionCategory: 'sequence_pattern', tuning: { historyDays: 1 } }, '/tuning/historyDays', 'not_used'],
    [{ tags: null }, '/tags', 'invalid_type'],
    [{ tags: ['ok', ''] }, '/tags/1', 'too_small'],
    [{ tags: ['x'.repeat(101)] }, '/tags/0', 'too_big'],
    [{ tags: ['İ'.repeat(100)] }, '/tags/0', 'custom'],
    [{ enabled: true }, '/enabled', 'no_schedule'],
    [{ enabled: null }, '/enabled', 'invalid_type'],
    [{ modelAlias: 'gpt' }, '/modelAlias', 'unknown_model_alias'],
    [{ planningMode: 'sometimes' }, '/planningMode', 'invalid_value'],
    [{ mode: 'fast' }, '/mode', 'invalid_value'],
    [{ inputs: [{ type: 'text' }] }, '/inputs/0/name', 'invalid_type'],
    [{ inputs: [{ type: 'other', name: 'a' }] }, '/inputs/0/type', 'invalid_value'],
    [{ inputs: [{ type: 'text', name: 'a', secret: 1 }] }, '/inputs/0/secret', 'unknown_field'],
    [{ contextDocs: [{ provider: 'x', id: '1', name: 'n' }] }, '/contextDocs/0/mimeType', 'invalid_type'],
    [{ structuredOutputSchema: null }, '/structuredOutputSchema', 'invalid_type'],
    [{ structuredOutputSchema: { required: 'a' } }, '/structuredOutputSchema/required', 'invalid_type'],
    [
      { structuredOutputSchema: { additionalProperties: 1 } },
      '/structuredOutputSchema/additionalProperties',
      'invalid_type',
    ],
    [{ connectionId: 'nine' }, '/connectionId', 'invalid_format'],
    [{ connectionId: '0197a0c0-0000-7000-8000-000000000000' }, '/connectionId', 'unknown_connection'],
    [{ entityField: '' }, '/entityField', 'too_small'],
    [{ lookbackMinutes: 1.5, detectionCadence: 'hourly' }, '/lookbackMinutes', 'invalid_type'],
    [{ lookbackMinutes: 119, detectionCadence: 'hourly' }, '/lookbackMinutes', 'too_short'],
    [{ lookbackMinutes: 20_159, detectionCadence: 'weekly' }, '/lookbackMinutes', 'too_short'],
    [{ suppressionMinutes: -1 }, '/suppressionMinutes', 'too_small'],
    [{ detectionCadance: 'hourly' }, '/detectionCadance', 'unknown_field'],
    [{ 'a/b~c': 1 }, '/a~1b~0c', 'unknown_field'],
    [{ constructor: 1 }, '/constructor', 'unknown_field'],
    [{ rationale: 'x' }, '/rationale', undefined],
  ])('for %j at %s with code %s', async (more, pointer, code) => {
    // Record fields that this body cannot set are ignored, so they cause no error on their own.
    if (code === undefined)
      return expect((await org.call('POST', '/api/detections', detectionBody(more))).status).toBe(200);
    expect(await refused(detectionBody(more))).toContainEqual(expect.objectContaining({ pointer, code }));
  });

  test('for every invalid field in one response', async () => {
    const errors = await refused({ name: '', toolNames: [1], unknown: 1 });
    expect(errors.map(({ pointer }) => pointer).toSorted()).toEqual([
      '/detectionCategory',
      '/detectionQuery',
      '/name',
      '/systemPrompt',
      '/toolNames/0',
      '/unknown',
    ]);
  });

  test.each([
    ['{', 'malformed_json'],
    ['', 'validation_failed'],
    ['[]', 'validation_failed'],
    ['null', 'validation_failed'],
    ['"x"', 'validation_failed'],
  ])('for the body %j', async (body, code) => {
    const response = await org.call('POST', '/api/detections', Buffer.from(body));
    expect([response.status, response.body.code]).toEqual([400, code]);
    expect(response.body.detail).not.toMatch(/^:/);
  });

  test('with the message "is missing" for an absent field', async () => {
    expect(await refused(detectionBody({ systemPrompt: undefined }))).toMatchObject([{ detail: 'is missing' }]);
  });

  test('for a field name that would reach a prototype', async () => {
    const body = JSON.stringify(detectionBody()).replace('{', '{"__proto__":{"enabled":true},');
    expect(await refused(body)).toContainEqual(
      expect.objectContaining({ pointer: '/__proto__', code: 'unknown_field' }),
    );
  });

  test('for an output schema that is nested too deep', async () => {
    const schema = `{"items":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    const body = JSON.stringify(detectionBody()).replace('{', `{"structuredOutputSchema":${schema},`);
    expect(await refused(body)).toContainEqual(
      expect.objectContaining({ pointer: expect.stringMatching(/^\/structuredOutputSchema\//), code: 'too_deep' }),
    );
  });
});
