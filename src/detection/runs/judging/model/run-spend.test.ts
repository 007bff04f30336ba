import { expect, test } from 'vitest';
import { testDatabase } from '../../../../../test/support/database.ts';
import { listRunRows, login, startJudgedRuns, verdictOn } from '../../../../../test/support/detection/judged-runs.ts';
import { hour } from '../../../../../test/support/detection/scripted-runs.ts';
import { startModelStandIn } from '../../../../../test/support/models/model-stand-in.ts';
import { readModelSettings } from '../../../../platform/models/model-settings.ts';
import { createModels } from '../../../../platform/models/models.ts';
import { getSteps } from '../../read-runs.ts';

const testDb = await testDatabase();

test('a run whose model fails completes with its fallback, at the price of that one, and says so', async () => {
  const { t, stand } = await startJudgedRuns(testDb, () => ({ status: 503 }), {
    answer: ({ window }) => (window.from.toISOString() === hour(0) ? [login('root')] : []),
  });
  const second = await startModelStandIn('anthropic', (asked) => verdictOn(asked));
  const shared = { provider: 'anthropic', apiKey: 'k', maxRetries: 0, verifyClaims: false };
  const price = { inputPerMillion: 1000, outputPerMillion: 0 };
  const settings = {
    m: { ...shared, model: 'first', baseUrl: stand.url, fallbacks: ['n'] },
    n: { ...shared, model: 'second', baseUrl: second.url, price },
  };
  t.deps.models = createModels(readModelSettings(JSON.stringify(settings), {}));
  await t.runAt(hour(1));
  const [run] = await listRunRows(t);
  expect(run).toMatchObject({
    status: 'completed',
    attempt: 1,
    hit_count: 1,
    model_alias: 'm',
    model: 'anthropic/first',
  });
  expect(Number(run!['cost_usd'])).toBeCloseTo(0.1, 6);
  const detail =
    'The model alias "m" failed, and "n" (anthropic/second) answered instead. The steps state which one answered.';
  expect(JSON.parse(String(run!['warnings']))).toContainEqual({ code: 'fallback_answered', detail });
  const { steps } = await getSteps(t.deps, t.caller, run!.id, {});
  expect(steps.map(({ alias, error }) => [alias, error !== undefined])).toEqual([
    ['m', true],
    ['n', false],
  ]);
  const usage = await t.select`select alias, cost_usd::float as cost from model_usage`;
  expect(usage).toEqual([{ alias: 'n', cost: expect.closeTo(0.1, 6) }]);
});
