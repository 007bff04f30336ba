import { describe, expect, test } from 'vitest';
import { sql } from 'kysely';
import { inOrg } from '../../platform/db/db.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { disableDetection } from './life-cycle.ts';
import {
  callOk,
  postDetection,
  postSuggestion,
  queryOrg,
  toIds,
} from '../../../test/support/detection/detection-factory.ts';

const now = new Date('2026-03-04T10:20:30.400Z');
const { newOrg, deps } = await startApp({ clock: () => now });
const org = await newOrg();

async function builtIn(of: TestOrg, type: string): Promise<ReturnType<typeof JSON.parse>> {
  const { agents } = await callOk(of, 'GET', '/api/agents?builtIn=true');
  expect(agents).toHaveLength(2);
  return agents.find(
    (agent: { isBuiltIn: boolean; builtInAgentType: string }) => agent.isBuiltIn && agent.builtInAgentType === type,
  );
}

describe('built-in agents', () => {
  test.each(['threat-relevancy', 'threat-research'])(
    '%s exists once per organization and has the shape of a detection',
    async (type) => {
      const record = await builtIn(org, type);
      const detection = await postDetection(org);
      expect(record).toMatchObject({
        isBuiltIn: true,
        builtInAgentType: type,
        agentType: 'response',
        detectionCategory: null,
        detectionQuery: null,
        enabled: false,
        cronSchedule: null,
        isSuggestion: false,
        runs30d: 0,
      });
      expect(Object.keys(record)).toEqual(Object.keys(detection));
      expect((await builtIn(await newOrg(), type)).id).not.toBe(record.id);
    },
  );

  test('are listed with agents, detections and suggestions, but not with detections alone', async () => {
    const other = await newOrg();
    const [detection, suggestion] = [await postDetection(other), await postSuggestion(other)];
    const deleted = await postDetection(other);
    await callOk(other, 'DELETE', `/api/detections/${deleted.id}`);
    const { agents } = await callOk(other, 'GET', '/api/agents');
    expect(toIds(agents)).toHaveLength(4);
    expect(toIds(agents)).toEqual(expect.arrayContaining([detection.id, suggestion.id]));
    expect(toIds((await callOk(other, 'GET', '/api/detections')).detections)).toEqual([detection.id]);
    const first = await callOk(other, 'GET', '/api/agents?limit=3');
    const second = await callOk(other, 'GET', `/api/agents?limit=3&cursor=${first.nextCursor}`);
    expect([...toIds(first.agents), ...toIds(second.agents)]).toEqual(toIds(agents));
  });

  test('accept schedule, enabled and model alias, and a record that GET returned', async () => {
    const { id } = await builtIn(org, 'threat-research');
    const put = (body: unknown) => callOk(org, 'PUT', `/api/agents/${id}`, body);
    expect(await put({ customCronSchedule: ' 5 3  * * * ' })).toMatchObject({
      cronSchedule: '5 3 * * *',
      enabled: true,
    });
    expect(await put({ enabled: false, modelAlias: 'analyst' })).toMatchObject({
      enabled: false,
      modelAlias: 'analyst',
    });
    const record = await callOk(org, 'GET', `/api/agents/${id}`);
    expect(await put(record)).toEqual(record);
    expect(await put({ name: 'other', toolNames: ['x'] })).toEqual(record);
    expect(await put({ detectionCadence: null, customCronSchedule: null })).toMatchObject({
      cronSchedule: null,
      enabled: false,
    });
    // Built-in agents have no schedule rows like those of detections.
    expect(await queryOrg(deps, org, sql`select 1 from schedules where detection_id = ${id}`)).toEqual([]);
  });

  test.each([
    [{ enabled: true }, '/enabled'],
    [{ modelAlias: 'x' }, '/modelAlias'],
    [{ customCronSchedule: '* * * * *' }, '/customCronSchedule'],
    [{ systemPrompt: 'x' }, '/systemPrompt'],
  ])('reject %j at %s', async (body, pointer) => {
    const { id } = await builtIn(org, 'threat-relevancy');
    const response = await org.call('PUT', `/api/agents/${id}`, body);
    expect([response.status, response.body.errors[0].pointer]).toEqual([400, pointer]);
  });

  test('cannot be deleted and are not found as detections', async () => {
    const { id } = await builtIn(org, 'threat-relevancy');
    expect((await org.call('DELETE', `/api/agents/${id}`)).status).toBe(409);
    expect((await org.call('DELETE', `/api/detections/${id}`)).status).toBe(404);
    expect((await org.call('GET', `/api/detections/${id}`)).status).toBe(404);
    expect((await org.call('PUT', `/api/detections/${id}`, {})).status).toBe(404);
    for (const action of ['restore', 'accept', 'dismiss'])
      expect((await org.call('POST', `/api/detections/${id}/${action}`)).status).toBe(404);
    expect(await builtIn(org, 'threat-relevancy')).toMatchObject({ deletedAt: null });
  });

  test('respect If-Match', async () => {
    const { id } = await builtIn(org, 'threat-relevancy');
    expect(
      (await org.call('PUT', `/api/agents/${id}`, { detectionCadence: 'daily' }, { 'if-match': '"old"' })).status,
    ).toBe(412);
  });

  test('refuses to change or delete a detection through the agents endpoint', async () => {
    const { id } = await postDetection(org);
    expect((await org.call('PUT', `/api/agents/${id}`, {})).status).toBe(409);
    expect((await org.call('DELETE', `/api/agents/${id}`)).status).toBe(409);
    expect(await callOk(org, 'GET', `/api/agents/${id}`)).toMatchObject({ id, deletedAt: null });
  });
});

test('shows why the service disabled a detection until a person enables it again', async () => {
  const { id, updatedAt } = await postDetection(org, { detectionCadence: 'hourly' });
  const disable = () =>
    inOrg(deps.db, org.id, (tx) =>
      disableDetection(tx, { orgId: org.id, detectionId: id, reason: 'The query failed in three slots running.', now }),
    );
  expect([await disable(), await disable()]).toEqual([true, false]);
  const off = await callOk(org, 'GET', `/api/detections/${id}`);
  expect(off).toMatchObject({
    enabled: false,
    disabledReason: 'The query failed in three slots running.',
    cronSchedule: '0 * * * *',
  });
  expect(off.updatedAt > updatedAt).toBe(true);
  const schedules = () => queryOrg(deps, org, sql`select active from schedules where detection_id = ${id}`);
  expect(await schedules()).toEqual([{ active: false }]);
  const { entries } = await callOk(org, 'GET', '/api/audit?limit=1');
  expect(entries).toMatchObject([{ action: 'detection.disabled', keyId: null, resourceId: id }]);
  expect(
    await callOk(org, 'PUT', `/api/detections/${id}`, { detectionQuery: 'select 3', enabled: true }),
  ).not.toHaveProperty('disabledReason');
  expect(await schedules()).toEqual([{ active: true }]);
});
