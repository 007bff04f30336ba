import { expect, test } from 'vitest';
import { uuidv7 } from '../../src/platform/lib/ids.ts';
import { adminEnv, adminHeadersFor } from '../support/admin-key.ts';
import { bodyFor } from '../support/bodies.ts';
import { startApp, type TestOrg } from '../support/harness.ts';
import { isForeignProtocol, isOpen, registeredRoutes } from '../support/registered-routes.ts';

const { app, newOrg } = await startApp({ env: adminEnv });
const org = await newOrg();
type Method = Parameters<TestOrg['call']>[0];

/** The operations of the interface contract, which ignore unknown parameters at both of their addresses, and other protocols, which allow extensions. */
const lenient = [
  'GET /api/detections',
  'POST /api/detections',
  'PUT /api/detections/{id}',
  'POST /api/detections/{id}/restore',
  'GET /api/detections/suggestions/dismissed',
  'GET /items',
  'GET /api/feed/items',
  'GET /api/feed/stats',
  'GET /stats',
];
const isLenient = (method: string, path: string): boolean =>
  lenient.includes(`${method} ${path}`) || isForeignProtocol(path);

const routes = registeredRoutes(app)
  .filter((route) => !isOpen(route) && route.path !== '*')
  .map(({ method, path }) => ({ method: method as Method, path }));

test.each(routes)('$method $path with an unknown query parameter', async ({ method, path }) => {
  const url = path.replaceAll(/\{[^}]+\}/g, uuidv7());
  const { status, body } = await org.call(
    method,
    `${url}?sevrity=critical`,
    bodyFor(method, path),
    adminHeadersFor(path),
  );
  const rejected = { status: 400, errors: [expect.objectContaining({ pointer: 'query/sevrity' })] };
  if (isLenient(method, path)) expect({ status, errors: body.errors }).not.toEqual(rejected);
  else expect({ status, errors: body.errors }).toEqual(rejected);
});

test.each([
  ['/api/hits?sevrity=critical', 'severity'],
  ['/api/audit?Limit=2', 'limit'],
  ['/api/feed/export/blocklist?type=domain&minConfidense=0.9', 'minConfidence'],
  ['/items/00000000-0000-7000-8000-000000000001/text?versoin=2', 'version'],
])('%s names the nearest parameter', async (url, name) => {
  const { status, body } = await org.call('GET', url);
  expect([status, body.errors?.[0].code]).toEqual([400, 'unknown_parameter']);
  expect(body.detail).toContain(`did you mean ${name}`);
});

test('operations that ignore unknown parameters warn of them', async () => {
  const warnings = [
    { code: 'unknown_parameter', field: 'query/categroy', detail: expect.stringContaining('did you mean category') },
  ];
  const { status, body } = await org.call('GET', '/api/detections?categroy=custom');
  expect({ status, ...body }).toEqual({ status: 200, detections: [], warnings });
  expect((await org.call('GET', '/api/detections')).body).toEqual({ detections: [] });
  const detection = { name: 'd', detectionCategory: 'custom', detectionQuery: 'SELECT 1', systemPrompt: 'p' };
  const created = await org.call('POST', '/api/detections?validat=true', detection);
  const unknown = {
    code: 'unknown_parameter',
    field: 'query/validat',
    detail: expect.stringContaining('did you mean validate'),
  };
  expect([created.status, created.body.warnings]).toEqual([200, expect.arrayContaining([unknown])]);
  const stored = await org.call('GET', `/api/detections/${created.body.id}`);
  expect(JSON.stringify(stored.body.warnings ?? [])).not.toContain('unknown_parameter');
});

test('an unknown address with a query stays a 404', async () => {
  expect((await org.call('GET', '/api/nothing?sevrity=critical')).status).toBe(404);
});
