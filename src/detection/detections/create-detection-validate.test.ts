import { expect, test } from 'vitest';
import { SiemError } from '../siem/connector.ts';
import { startApp } from '../../../test/support/harness.ts';
import { callOk, detectionBody } from '../../../test/support/detection/detection-factory.ts';

const asks: string[] = [];
const { newOrg } = await startApp({
  deps: {
    checkQuery: async (_orgId, _ref, query) => {
      asks.push(query);
      if (!query.startsWith('broken')) return;
      throw new SiemError({
        kind: 'query_not_allowed',
        blame: 'author',
        retryable: false,
        message: 'This is no SELECT.',
      });
    },
  },
});
const org = await newOrg();

test('checks the query and creates a detection that can run', async () => {
  asks.length = 0;
  expect((await org.call('POST', '/api/detections?validate=true', detectionBody())).status).toBe(200);
  expect((await org.call('POST', '/api/detections?validate=false', detectionBody())).status).toBe(200);
  expect(asks).toEqual(['select user, country from auth']);
});

test('returns 422 and creates nothing if the detection cannot run', async () => {
  const before = (await callOk(org, 'GET', '/api/detections')).detections.length;
  const response = await org.call(
    'POST',
    '/api/detections?validate=true',
    detectionBody({ detectionQuery: 'broken', toolNames: ['nope'] }),
  );
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
