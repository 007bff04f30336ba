import { expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';

const { newOrg } = await startApp();

test('replaces the whole profile in versions, for its organization only', async () => {
  const [org, other] = [await newOrg(), await newOrg()];
  expect((await org.call('GET', '/api/feed/profile')).body).toEqual({
    products: [],
    platforms: [],
    sectors: [],
    regions: [],
    keywords: [],
    requirements: [],
    sweep: true,
    threshold: 0.5,
    timeZone: 'UTC',
    version: 0,
    rebuilding: false,
    updatedAt: null,
  });
  const input = {
    products: [{ vendor: ' Fortinet ', product: 'FortiOS' }],
    platforms: ['win', 'Windows'],
    keywords: ['SAP', 'sap'],
  };
  const put = await org.call('PUT', '/api/feed/profile', input);
  expect(put.status).toBe(200);
  expect(put.body).toMatchObject({
    products: [{ vendor: 'Fortinet', product: 'FortiOS' }],
    platforms: ['windows'],
    version: 1,
  });
  expect(put.body.keywords).toHaveLength(1);
  expect((await org.call('PUT', '/api/feed/profile', input)).body.version).toBe(1);
  expect((await org.call('PUT', '/api/feed/profile', { threshold: 0.3 })).body).toMatchObject({
    version: 2,
    products: [],
    threshold: 0.3,
  });
  expect((await other.call('GET', '/api/feed/profile')).body.version).toBe(0);
});

test.each([
  [{ platforms: ['amiga'] }, '/platforms/0'],
  [{ threshold: 0 }, '/threshold'],
  [{ keywords: ['  '] }, '/keywords/0'],
  [{ products: [{ product: 'FortiOS' }] }, '/products/0/vendor'],
  [{ sectors: 'energy' }, '/sectors'],
  [{ colour: 'blue' }, '/'],
])('rejects %j at %s', async (body, pointer) => {
  const org = await newOrg();
  const answer = await org.call('PUT', '/api/feed/profile', body);
  expect(answer.status).toBe(400);
  expect(JSON.stringify(answer.body.errors)).toContain(pointer);
});
