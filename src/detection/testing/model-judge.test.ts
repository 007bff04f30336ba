import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { dismissalOn, runbook, verdictOn } from '../../../test/support/detection/judged-runs.ts';
import { startApp } from '../../../test/support/harness.ts';
import { delimitedBlocks, createScriptedModels } from '../../../test/support/models/scripted-models.ts';
import { startModelStandIn, type ModelRequestRecord } from '../../../test/support/models/model-stand-in.ts';
import { inOrg } from '../../platform/db/db.ts';
import { countUsage } from '../../platform/models/model-usage.store.ts';
import { predictMonth } from './cost-ranges.ts';

const stand = await startModelStandIn('anthropic', submitVerdict);
const entry = { budgets: { tokensPerRun: 370 }, verifyClaims: false };
const priced = createScriptedModels({ m: stand.url }, entry);
const unpriced = createScriptedModels({ free: stand.url }, { ...entry, price: undefined });
const models = {
  ...priced,
  aliases: [...priced.aliases, 'free'],
  find: (alias: string) => priced.find(alias) ?? unpriced.find(alias),
};
const time = { now: new Date('2026-03-02T12:00:00Z') };
const { newOrg, deps } = await startApp({ clock: () => time.now, deps: { models } });

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

const monthly = {
  name: 'Sign-ins',
  detectionCategory: 'custom',
  systemPrompt: 'Judge it.',
  detectionQuery: 'SELECT "user", country, _id, _time FROM logins',
  entityField: 'user',
  detectionCadence: 'hourly',
  suppressionMinutes: 0,
  modelAlias: 'm',
};

test('estimates the cost per month from a preview and typical figures, and from own runs once there are some', async () => {
  const org = await newOrg();
  const nothing = await org.call('POST', '/api/detections/estimate', monthly);
  expect(nothing.status).toBe(422);
  const events = Array.from({ length: 8 }, (_, n) => ({
    '@timestamp': new Date(Date.UTC(2026, 1, 26 + Math.floor(n / 2), 10 + (n % 2))).toISOString(),
    user: `user${n}`,
    country: 'NO',
  }));
  await callOk(org, 'POST', '/api/logs/logins', events.map((event) => JSON.stringify(event)).join('\n'));
  // The log store seals a minute after an event arrived.
  time.now = new Date('2026-03-02T12:05:00Z');
  const estimate = await callOk(org, 'POST', '/api/detections/estimate', monthly);
  expect(estimate).toMatchObject({
    modelAlias: 'm',
    basis: { candidates: { source: 'preview', days: 4, candidates: 8 }, tokens: { source: 'typical', verdicts: 0 } },
    candidates: { expected: 60 },
    aliases: [{ alias: 'm', model: 'anthropic/stand-in', calls: { expected: 300 } }],
  });
  const { low, expected, high } = estimate.costUsd;
  expect(low).toBeLessThan(expected);
  expect(expected).toBeLessThan(high);
  expect(await callOk(org, 'POST', '/api/detections/estimate', { ...monthly, modelAlias: 'analyst' })).toMatchObject({
    aliases: [],
    costUsd: { low: 0, expected: 0, high: 0 },
  });
  const unpriced = await callOk(org, 'POST', '/api/detections/estimate', { ...monthly, modelAlias: 'free' });
  expect(unpriced).toMatchObject({ costUsd: null, aliases: [{ alias: 'free', costUsd: null }] });

  const { id } = await callOk(org, 'POST', '/api/detections', monthly);
  // Ten days with one run of two verdicts each: three calls and 600 tokens.
  await inOrg(deps.db, org.id, (tx) =>
    sql`insert into runs (organization_id, id, detection_id, due_at, trigger, status, query, model_alias, model, entities, judging, calls, tokens, cost_usd)
      select ${org.id}, gen_random_uuid(), ${id}, d, 'schedule', 'completed', ${monthly.detectionQuery}, 'm', 'anthropic/stand-in', '[{}, {}]',
        '{"verdicts": 2}', 3, 600, 0.02
      from generate_series('2026-02-20T05:00:00Z'::timestamptz, '2026-03-01T05:00:00Z', interval '1 day') d`.execute(
      tx,
    ),
  );
  const now = new Date('2026-03-01T05:00:00Z');
  const spender = { orgId: org.id, detectionId: id };
  await inOrg(deps.db, org.id, async (tx) => {
    await countUsage(tx, spender, { alias: 'm', calls: 20, tokens: 4500, costUsd: 0.15 }, now);
    await countUsage(tx, spender, { alias: 'verifier', calls: 10, tokens: 1500, costUsd: null }, now);
  });
  const own = await callOk(org, 'POST', `/api/detections/${id}/estimate`);
  expect(own).toMatchObject({
    basis: { candidates: { source: 'runs', days: 10, candidates: 20 }, tokens: { source: 'detection', verdicts: 20 } },
    candidates: { expected: 60 },
    aliases: [
      { alias: 'm', calls: { expected: 60 }, tokens: { expected: 13_500 }, costUsd: { expected: 0.45 } },
      { alias: 'verifier', model: null, calls: { expected: 30 }, tokens: { expected: 4_500 }, costUsd: null },
    ],
    costUsd: null,
  });
  const other = await callOk(org, 'POST', '/api/detections/estimate', monthly);
  expect(other.basis.tokens).toEqual({ source: 'organization', verdicts: 20 });
  expect((await callOk(org, 'GET', `/api/detections/${id}/days`)).aliases).toEqual([
    { alias: 'm', calls: 20, tokens: 4500, costUsd: 0.15 },
    { alias: 'verifier', calls: 10, tokens: 1500, costUsd: null },
  ]);
});

test('predicts a month by the counts of days, and not more than chance allows without any', () => {
  expect(predictMonth([0, 0, 0, 0, 0, 0, 0, 0, 0, 0])).toEqual({ low: 0, expected: 0, high: 9 });
  const steady = predictMonth(Array.from({ length: 30 }, () => 10));
  expect(steady.expected).toBe(300);
  // Of independent events, even a steady past leaves the chance of both months open.
  expect(steady.high - steady.expected).toBeCloseTo(1.96 * Math.sqrt(2 * 300), -1);
  const bursts = predictMonth(Array.from({ length: 30 }, (_, day) => (day % 10 === 0 ? 100 : 0)));
  expect(bursts.expected).toBe(300);
  expect(bursts.high).toBeGreaterThan(steady.high);
});
