import { expect, test } from 'vitest';
import { SiemError } from '../siem/connector.ts';
import { startApp } from '../../../test/support/harness.ts';
import { asked, input } from '../../../test/support/detection/detection-factory.ts';

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

test('asks for the query and takes what would run', async () => {
  asks.length = 0;
  expect((await org.call('POST', '/api/detections?validate=true', input())).status).toBe(200);
  expect((await org.call('POST', '/api/detections?validate=false', input())).status).toBe(200);
  expect(asks).toEqual(['select user, country from auth']);
});

test('422 for what would not, and nothing is made', async () => {
  const before = (await asked(org, 'GET', '/api/detections')).detections.length;
  const answer = await org.call(
    'POST',
    '/api/detections?validate=true',
    input({ detectionQuery: 'broken', toolNames: ['nope'] }),
  );
  expect(answer.status).toBe(422);
  expect(answer.body).toMatchObject({
    code: 'check_failed',
    errors: [
      { pointer: '/toolNames', code: 'unknown_tool' },
      { pointer: '/detectionQuery', code: 'query_not_allowed', detail: 'This is no SELECT.' },
    ],
  });
  expect((await asked(org, 'GET', '/api/detections')).detections.length).toBe(before);
});

test('a SIEM without a connection is not asked', async () => {
  asks.length = 0;
  const answer = await org.call('POST', '/api/detections?validate=true', input({ siemType: 'splunk' }));
  expect([answer.status, answer.body.errors[0].pointer, asks.length]).toEqual([422, '/siemType', 0]);
});

test('another value is refused', async () => {
  const answer = await org.call('POST', '/api/detections?validate=yes', input());
  expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, 'query/validate']);
});
