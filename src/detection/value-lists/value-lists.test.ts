import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startApp } from '../../../test/support/harness.ts';

const { newOrg } = await startApp();

const detection = {
  name: 'Sign-in',
  detectionCategory: 'custom',
  systemPrompt: 'Judge it.',
  detectionQuery: 'SELECT 1 AS n',
  tuning: { allowLists: ['scanners'] },
};

test('creates, replaces, lists, reads and deletes a list', async () => {
  const org = await newOrg();
  const path = '/api/value-lists/scanners';
  const created = await callOk(org, 'PUT', path, { description: 'Ours', values: ['scan-*', '10.0.0.0/8', 'scan-*'] });
  expect(created).toMatchObject({ name: 'scanners', valuesTotal: 2, values: ['scan-*', '10.0.0.0/8'], usedBy: [] });
  expect(await callOk(org, 'PUT', path, { values: ['secret-host'] })).toMatchObject({
    description: '',
    valuesTotal: 1,
  });
  const { lists } = await callOk(org, 'GET', '/api/value-lists');
  expect(lists).toEqual([expect.objectContaining({ name: 'scanners', valuesTotal: 1 })]);
  expect(await callOk(org, 'GET', path)).toMatchObject({ values: ['secret-host'] });
  const other = await newOrg();
  expect((await other.call('GET', path)).status).toBe(404);
  expect((await callOk(other, 'GET', '/api/value-lists')).lists).toEqual([]);
  await callOk(org, 'DELETE', path);
  expect((await org.call('DELETE', path)).status).toBe(404);
  const audit = JSON.stringify(await callOk(org, 'GET', '/api/audit'));
  for (const action of ['created', 'changed', 'deleted']) expect(audit).toContain(`value_list.${action}`);
  expect(audit).not.toContain('secret-host');
});

test('refuses to delete a list that a detection uses', async () => {
  const org = await newOrg();
  await callOk(org, 'PUT', '/api/value-lists/scanners', { values: [] });
  const { id } = await callOk(org, 'POST', '/api/detections', detection);
  expect((await callOk(org, 'GET', '/api/value-lists/scanners')).usedBy).toEqual([id]);
  expect(await org.call('DELETE', '/api/value-lists/scanners')).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining(id) },
  });
  await callOk(org, 'PUT', `/api/detections/${id}`, { tuning: {} });
  await callOk(org, 'DELETE', '/api/value-lists/scanners');
});

test.each([
  ['Scanners', { values: [] }, 'path/name'],
  ['scanners', {}, '/values'],
  ['scanners', { values: [''] }, '/values/0'],
  ['scanners', { values: Array.from({ length: 10_001 }, String) }, '/values'],
])('rejects an invalid list %s', async (name, body, pointer) => {
  const org = await newOrg();
  expect(await org.call('PUT', `/api/value-lists/${name}`, body)).toMatchObject({
    status: 400,
    body: { errors: [{ pointer }] },
  });
});
