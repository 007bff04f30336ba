import { expect, test } from 'vitest';
import { dismissalOn, runbook, verdictOn } from '../../../test/support/detection/judged-runs.ts';
import { startApp } from '../../../test/support/harness.ts';
import { delimitedBlocks, createScriptedModels } from '../../../test/support/models/scripted-models.ts';
import { startModelStandIn, type ModelRequestRecord } from '../../../test/support/models/model-stand-in.ts';

const stand = await startModelStandIn('anthropic', submitVerdict);
const models = createScriptedModels({ m: stand.url }, { budgets: { tokensPerRun: 370 }, verifyClaims: false });
const { newOrg } = await startApp({ clock: () => new Date('2026-03-02T12:00:00Z'), deps: { models } });

/** Raises sign-ins from KP, and dismisses others with the runbook. */
function submitVerdict(request: ModelRequestRecord) {
  const [, rows] = delimitedBlocks(request.turns[0]!.text);
  const [row] = JSON.parse(rows!) as { rowId: string; fields: Record<string, string> }[];
  const { country } = row!.fields;
  if (country !== 'KP') return dismissalOn(request);
  const cites = [{ observation: 'rows', rowId: row!.rowId, field: 'country', value: country }];
  return verdictOn(request, { claims: [{ text: 'It came from KP.', kind: 'fact', cites }] });
}

const login = (user: string, country: string) => ({ '@timestamp': '2026-03-02T10:00:00Z', user, country });
const tests = [
  { name: 'raises a hit', events: [login('ada', 'KP')], expect: ['ada'] },
  { name: 'raises no hit', events: [login('bob', 'NO')], expect: [] },
  { name: 'the last within the budget', events: [login('eve', 'KP')], expect: ['eve'] },
];

async function detection() {
  const org = await newOrg();
  const { body } = await org.call('POST', '/api/detections', {
    name: 'Sign-ins',
    detectionCategory: 'custom',
    systemPrompt: 'Judge it.',
    detectionQuery: 'SELECT "user", country, _id, _time FROM logins',
    entityField: 'user',
    modelAlias: 'm',
    planningMode: 'never',
    contextDocs: [runbook],
  });
  const url = `/api/detections/${body.id}/tests`;
  expect((await org.call('PUT', url, { tests })).status).toBe(200);
  return { org, url };
}

test("judges test cases with the detection's model within its budgets and returns the cost", async () => {
  const { org, url } = await detection();
  const before = stand.asked.length;
  const { body } = await org.call('POST', `${url}/run`);
  expect(stand.asked.length - before).toBe(3);
  expect(body).toMatchObject({ passed: true, model: 'anthropic/stand-in', tokens: 480, costUsd: 0.008 });
  const refused = await detection();
  const four = [...tests, { name: 'over the budget', events: [login('joe', 'KP')], expect: ['joe'] }];
  await refused.org.call('PUT', refused.url, { tests: four });
  const { body: over } = await refused.org.call('POST', `${refused.url}/run`);
  expect(over.passed).toBe(false);
  expect(over.results[3].error).toBe('The budget of 370 tokens per run is used up.');
});

test("a detection's own budget overrides that of its alias", async () => {
  const { org, url } = await detection();
  const set = await org.call('PUT', url.replace('/tests', ''), { budgets: { tokensPerRun: 250 } });
  expect(set.status).toBe(200);
  const { body } = await org.call('POST', `${url}/run`);
  expect(body.results.map(({ error }: { error: string | null }) => error)).toEqual([
    null,
    null,
    'The budget of 250 tokens per run is used up.',
  ]);
});

test('judge=analyst does not use the model and costs nothing', async () => {
  const { org, url } = await detection();
  const before = stand.asked.length;
  const { body } = await org.call('POST', `${url}/run?judge=analyst`);
  expect(stand.asked.length).toBe(before);
  expect(body).toMatchObject({ passed: false, model: 'analyst', tokens: 0, costUsd: 0 });
  expect(body.results.map(({ found }: { found: string[] }) => found)).toEqual([['ada'], ['bob'], ['eve']]);
  expect((await org.call('POST', `${url}/run?judge=nobody`)).status).toBe(400);
});
