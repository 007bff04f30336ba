import { expect, test } from 'vitest';
import { startModelStandIn, type ModelBrain } from '../../../test/support/models/model-stand-in.ts';
import { createScriptedModels } from '../../../test/support/models/scripted-models.ts';
import { startApp } from '../../../test/support/harness.ts';
import { connectOpenSearch, submitDetection } from '../../../test/support/org-requests.ts';

const { deps, newOrg } = await startApp({
  clock: () => new Date('2030-01-07T12:00:00Z'),
  env: { TOCSIN_FETCH_ALLOW: '127.0.0.1', TOCSIN_LOG_LEVEL: 'fatal' },
});
const noModels = deps.models!;
const org = await newOrg();
/** Connected by the first test. */
let siem: Awaited<ReturnType<typeof connectOpenSearch>>['siem'];
const good = 'source=auth | where $window | rename user as entity';
const submit = (detectionQuery: string, expected = ['ada']) =>
  submitDetection(detectionQuery, { events: { rows: [{ entity: 'ada' }] }, expect: expected });

async function generate(brain: ModelBrain, siemType = 'OpenSearch') {
  const stand = await startModelStandIn('anthropic', brain);
  deps.models = createScriptedModels({ default: stand.url });
  try {
    return { ...(await org.call('POST', '/api/detections/generate', { intent: 'Signs in', siemType })), stand };
  } finally {
    deps.models = noModels;
  }
}
const errorOf = ({ status, body }: { status: number; body: { errors?: { pointer: string; code: string }[] } }) => [
  status,
  body.errors?.[0]?.pointer,
  body.errors?.[0]?.code,
];

test('returns 422 for siemType without a connection or without a model', async () => {
  expect(errorOf(await generate(() => submit(good)))).toEqual([422, '/siemType', 'no_connection']);
  ({ siem } = await connectOpenSearch(org));
  const asked = siem.requestCount();
  const refused = await org.call('POST', '/api/detections/generate', { intent: 'Signs in', siemType: 'opensearch' });
  expect(errorOf(refused)).toEqual([422, '/siemType', 'no_model']);
  expect(siem.requestCount()).toBe(asked);
});

test('lets a model write for a connected SIEM and returns an invalid query to it', async () => {
  const asked = siem.requestCount();
  const { status, body, stand } = await generate((_asked, nth) =>
    submit(nth === 1 ? 'source=auth | where $window' : good),
  );
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({
    siemType: 'OpenSearch',
    detectionQuery: good,
    basedOn: { kind: 'model' },
    // Rows of one account within six hours count as one hit. Windows are offset by five minutes, as in real runs, so a day overlaps 25 of them.
    estimate: { windows: 25, rowsTotal: 25, hits: 4, complete: true },
  });
  expect(stand.asked[0]!.raw).toContain('PPL');
  expect(stand.asked[0]!.raw).toContain('logs-*: user');
  expect(stand.asked[1]!.raw).toContain('no column entity');
  // One request for the fields, a check and a trial day for each of two drafts, and the windows of a day for the second.
  expect(siem.requestCount() - asked).toBeLessThan(40);
});

test('without a model, uses a shipped detection or template as a portable query', async () => {
  const other = await newOrg();
  const { id, siem: logs } = await connectOpenSearch(other);
  const settings = { url: logs.url, datasets: { edr: { source: 'logs-*' } } };
  const connection = await other.call('PUT', `/api/connections/${id}`, { settings });
  expect(connection.status, JSON.stringify(connection.body)).toBe(200);
  const { status, body } = await other.call('POST', '/api/detections/generate', {
    intent: 'T1490 shadow copies deleted',
    siemType: 'opensearch',
  });
  // The stand-in lists only the field `user`, so nothing that is shipped fits its logs.
  expect([status, body.errors?.[0]]).toMatchObject([422, { pointer: '/intent', code: 'missing_data' }]);
});

test.each([
  ['a query without $window', submit('source=auth'), '$window'],
  ['tests that fail', submit(good, ['eve']), 'missing eve'],
])('rejects a draft with %s', async (_case, answer, reason) => {
  const { status, body } = await generate(() => answer);
  expect(status).toBe(422);
  expect(body.detail).toContain(reason);
});

test('returns 503 if the SIEM is down', async () => {
  siem.answerWith(503);
  const { status, stand } = await generate(() => submit(good));
  siem.answerWith(200);
  expect([status, stand.asked.length]).toEqual([503, 0]);
});
