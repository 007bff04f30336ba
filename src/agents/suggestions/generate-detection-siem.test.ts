import { expect, test } from 'vitest';
import { startStandIn, type Brain } from '../../../test/support/models/model-stand-in.ts';
import { modelsAt } from '../../../test/support/models/scripted-models.ts';
import { startApp } from '../../../test/support/harness.ts';
import { startSiem } from '../../../test/support/detection/connected-siem.ts';

const { deps, newOrg } = await startApp({
  clock: () => new Date('2030-01-07T12:00:00Z'),
  env: { TOCSIN_FETCH_ALLOW: '127.0.0.1', TOCSIN_LOG_LEVEL: 'fatal' },
});
const noModels = deps.models!;
const siem = await startSiem();
const org = await newOrg();
const connection = {
  kind: 'opensearch',
  name: 'Logs',
  settings: { url: siem.url },
  credentials: { user: 'soc', password: 'pw' },
};
const good = 'source=auth | where $window | rename user as entity';
const submit = (detectionQuery: string, expected = ['ada']) => ({
  calls: [
    {
      name: 'submit_detection',
      input: {
        steps: ['Look for it.'],
        name: 'Somebody signs in',
        description: '',
        technique: 'T1078',
        detectionCategory: 'custom',
        detectionQuery,
        systemPrompt: 'Judge it.',
        tests: [{ name: 'Finds it', events: { rows: [{ entity: 'ada' }] }, expect: expected }],
      },
    },
  ],
});

async function generate(brain: Brain, siemType = 'OpenSearch') {
  const stand = await startStandIn('anthropic', brain);
  deps.models = modelsAt({ default: stand.url });
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

test('without the connection, and without a model, it is refused by the field with the reason', async () => {
  expect(errorOf(await generate(() => submit(good)))).toEqual([422, '/siemType', 'no_connection']);
  await org.call('POST', '/api/connections', connection);
  const asked = siem.asked();
  const refused = await org.call('POST', '/api/detections/generate', { intent: 'Signs in', siemType: 'opensearch' });
  expect(errorOf(refused)).toEqual([422, '/siemType', 'no_model']);
  expect(siem.asked()).toBe(asked);
});

test('a model writes for a SIEM that is connected, and what does not run there goes back to it', async () => {
  const asked = siem.asked();
  const { status, body, stand } = await generate((_asked, nth) =>
    submit(nth === 1 ? 'source=auth | where $window' : good),
  );
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body).toMatchObject({
    siemType: 'OpenSearch',
    detectionQuery: good,
    basedOn: { kind: 'model' },
    // Six hours each of one account are one hit. Windows lie five minutes behind the hours, as those of its runs, so that a day has parts of 25.
    estimate: { windows: 25, rowsTotal: 25, hits: 4, complete: true },
  });
  expect(stand.asked[0]!.raw).toContain('PPL');
  expect(stand.asked[0]!.raw).toContain('logs-*: user');
  expect(stand.asked[1]!.raw).toContain('no column entity');
  // Fields, then check and one day at once for each of two drafts, and the windows of a day for the second.
  expect(siem.asked() - asked).toBeLessThan(40);
});

test.each([
  ['a query without its window', submit('source=auth'), '$window'],
  ['tests that it does not pass', submit(good, ['eve']), 'missing eve'],
])('%s is no draft', async (_what, answer, reason) => {
  const { status, body } = await generate(() => answer);
  expect(status).toBe(503);
  expect(body.detail).toContain(reason);
});

test('a SIEM that is down is what the answer says', async () => {
  siem.answerWith(503);
  const { status, stand } = await generate(() => submit(good));
  siem.answerWith(200);
  expect([status, stand.asked.length]).toEqual([503, 0]);
});
