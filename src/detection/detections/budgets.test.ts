import { expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';
import { callOk, detectionBody, postDetection } from '../../../test/support/detection/detection-factory.ts';

const { newOrg } = await startApp();

test('stores, shows, versions and clears the budgets of a detection', async () => {
  const org = await newOrg();
  const made = await postDetection(org, { budgets: { tokensPerRun: 5 } });
  expect([made.budgets, made.revision]).toEqual([{ tokensPerRun: 5 }, 1]);
  const url = `/api/detections/${made.id}`;
  const put = async (budgets: unknown) => callOk(org, 'PUT', url, { budgets });
  expect(await put({ usdPerRun: 0 })).toMatchObject({ budgets: { usdPerRun: 0 }, revision: 2 });
  expect((await callOk(org, 'GET', url)).budgets).toEqual({ usdPerRun: 0 });
  const cleared = await put({});
  expect([cleared.revision, 'budgets' in cleared]).toEqual([3, false]);
  const restored = await org.call('POST', `${url}/revisions/2/restore`);
  expect(restored.body.budgets).toEqual({ usdPerRun: 0 });
});

test.each([
  [{ tokensPerRun: 0 }, '/budgets/tokensPerRun'],
  [{ usdPerRun: -1 }, '/budgets/usdPerRun'],
  [{ stepsPerEntity: 1.5 }, '/budgets/stepsPerEntity'],
  [{ tokensPerOrganizationMonth: 5 }, '/budgets'],
  [null, '/budgets'],
])('rejects budgets %j at %s', async (budgets, pointer) => {
  const org = await newOrg();
  const { status, body } = await org.call('POST', '/api/detections', detectionBody({ budgets }));
  expect([status, body.errors[0].pointer]).toEqual([400, expect.stringContaining(pointer)]);
});

test('stores budgets of a built-in agent', async () => {
  const org = await newOrg();
  const { agents } = (await org.call('GET', '/api/agents')).body;
  const { id } = agents.find((agent: { isBuiltIn: boolean }) => agent.isBuiltIn);
  const put = await org.call('PUT', `/api/agents/${id}`, { budgets: { usdPerDetectionDay: 1 } });
  expect([put.status, put.body.budgets]).toEqual([200, { usdPerDetectionDay: 1 }]);
});
