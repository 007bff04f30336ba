import { expect, test } from 'vitest';
import { testDatabase } from '../../../../../test/support/database.ts';
import { login, startJudgedRuns, verdictOn } from '../../../../../test/support/detection/judged-runs.ts';
import { hour } from '../../../../../test/support/detection/scripted-runs.ts';
import { createPromptCache } from '../../../../../test/support/models/prompt-cache.ts';
import { requestRun } from '../../request-run.ts';
import { getSteps } from '../../read-runs.ts';

const testDb = await testDatabase();
const price = { inputPerMillion: 10, outputPerMillion: 50, cachedInputPerMillion: 1, cacheWritePerMillion: 12.5 };

test('sends the same system prompt and tools for every entity and run of a revision, so that the cache of the provider hits', async () => {
  const usageOf = createPromptCache({ needsMark: true });
  const { t, id, stand } = await startJudgedRuns(testDb, (asked) => ({ ...verdictOn(asked), usage: usageOf(asked) }), {
    entry: { price, verifyClaims: false },
    detection: {
      toolNames: ['get_rows'],
      suppressionMinutes: 0,
      contextDocs: [
        { provider: 'wiki', id: '1', name: 'Runbook', mimeType: 'text/plain', content: 'Deploys run at noon.' },
      ],
    },
    answer: ({ window }) => Array.from({ length: 10 }, (_, i) => login(`user${i}`, window.from.getTime())),
  });
  await t.runAt(hour(1));
  await t.runAt(hour(2));
  await requestRun(t.deps, t.caller, id, { customInstructions: 'Look twice.' });
  await t.runAt(hour(2));
  expect(stand.asked).toHaveLength(30);
  const prefixes = new Set(stand.asked.map(({ system, body }) => JSON.stringify([system, body['tools']])));
  expect(prefixes.size).toBe(1);
  const [system] = stand.asked.map((asked) => asked.system);
  expect(system).toContain('Deploys run at noon.');
  expect(system).not.toContain('user0');
  expect(stand.asked[29]!.turns[0]!.text).toContain('Look twice.');
  const runs = await t.select<{ id: string; cost: number; tokens: number }>`
    select id, cost_usd as cost, tokens from runs order by due_at, id`;
  const { steps } = await getSteps(t.deps, t.caller, runs[0]!.id, {});
  const cached = steps.map(({ tokens }) => tokens.cached ?? 0);
  expect(cached.filter((n) => n > 0)).toHaveLength(9);
  // The case of the first entity was written besides, for a step that did not follow.
  expect(steps[0]!.tokens.cacheWritten).toBeGreaterThan(cached[1]!);
  // The cached tokens are counted, at their own price.
  const costs = steps.map(
    ({ tokens: { input, output, cached: read = 0, cacheWritten = 0 } }) =>
      ((input - read - cacheWritten) * 10 + read * 1 + cacheWritten * 12.5 + output * 50) / 1e6,
  );
  expect(Number(runs[0]!.cost)).toBeCloseTo(
    costs.reduce((sum, cost) => sum + cost, 0),
    // Each step is stored in millionths of a dollar.
    4,
  );
  const uncached = steps.reduce((sum, { tokens }) => sum + (tokens.input * 10 + tokens.output * 50) / 1e6, 0);
  expect(Number(runs[1]!.cost)).toBeLessThan(0.6 * uncached);
});

test('reads at least 70 % of the input of an investigation of five steps from the cache', async () => {
  const usageOf = createPromptCache({ needsMark: true });
  const { t, stand } = await startJudgedRuns(
    testDb,
    (asked) => {
      const step = Math.ceil(asked.turns.length / 2);
      const reply = step < 5 ? { calls: [{ name: 'get_rows', input: {} }] } : verdictOn(asked);
      return { ...reply, usage: usageOf(asked) };
    },
    {
      entry: { price, verifyClaims: false },
      detection: { toolNames: ['get_rows'], suppressionMinutes: 0 },
      answer: ({ window }) =>
        window.from.toISOString() === hour(0)
          ? Array.from({ length: 20 }, (_, n) => login('root', window.from.getTime() + n))
          : [],
    },
  );
  await t.runAt(hour(1));
  expect(stand.asked).toHaveLength(5);
  const [run] = await t.select<{ id: string }>`select id from runs order by due_at, id limit 1`;
  const { steps } = await getSteps(t.deps, t.caller, run!.id, {});
  const calls = steps.filter(({ kind }) => kind === 'call').map(({ tokens }) => tokens);
  const sum = (of: (tokens: (typeof calls)[number]) => number): number => calls.reduce((all, one) => all + of(one), 0);
  expect(calls).toHaveLength(5);
  expect(sum(({ cached = 0 }) => cached) / sum(({ input }) => input)).toBeGreaterThanOrEqual(0.7);
});

test('gives the judge what is known of the entity, as data', async () => {
  const { t, stand } = await startJudgedRuns(testDb, (asked) => verdictOn(asked), {
    answer: ({ window }) => [{ ...login('root', window.from.getTime()), ip: '203.0.113.9' }],
    detection: { suppressionMinutes: 0 },
  });
  t.deps.feedTools = () => ({
    searchFeed: () => Promise.resolve({}),
    lookupIndicator: () => Promise.resolve({}),
    lookupTechnique: () => undefined,
    findKnownIndicators: (values) =>
      Promise.resolve(
        values
          .filter((value) => value === '203.0.113.9')
          .map((indicator) => ({ indicator, isActive: true, items: [{ id: 'i1', title: 'Botnet' }] })),
      ),
  });
  await t.select`
    insert into entity_notes (organization_id, id, entity, entity_type, note, updated_at) values
      (${t.orgId}, gen_random_uuid(), 'ROOT', 'user', 'Break-glass account.', now()),
      (${t.orgId}, gen_random_uuid(), '203.0.113.9', '', 'VPN exit.', now()),
      (${t.orgId}, gen_random_uuid(), 'root', 'host', 'Another root.', now()),
      (${t.orgId}, gen_random_uuid(), 'bob', '', 'Somebody else.', now())`;
  await t.select`insert into value_lists (organization_id, id, name, description, list_columns, list_values, updated_at)
    values (${t.orgId}, gen_random_uuid(), 'admins', '', '["value"]', '["ro*", "ann"]', now())`;
  await t.runAt(hour(1));
  await t.select`update hits set status = 'benign'`;
  await t.select`insert into hit_changes (organization_id, id, hit_id, at, from_status, to_status, reason)
    select organization_id, gen_random_uuid(), id, now(), 'open', 'benign', 'planned' from hits`;
  await t.runAt(hour(2));
  const { text } = stand.asked[1]!.turns[0]!;
  const read = (before: string): unknown => {
    const [, , content] = new RegExp(`${before}[^\\n]*\\n<(data-\\w+)>\\n([\\s\\S]*?)\\n</\\1>`).exec(text)!;
    return JSON.parse(content!);
  };
  expect(read('Entity and facts')).toMatchObject({
    facts: { recurredDays: 0, recurredPeers: 0, recurredPeerDays: 0, recurs: false },
  });
  expect(read('What this organization knows')).toEqual({
    notes: [
      { id: expect.any(String), entity: 'ROOT', note: 'Break-glass account.' },
      { id: expect.any(String), entity: '203.0.113.9', note: 'VPN exit.' },
    ],
    hits: [
      {
        id: expect.any(String),
        status: 'benign',
        isReviewed: false,
        reason: 'planned',
        detection: 'Root logs in',
        severity: expect.any(String),
        lastSeenAt: expect.any(String),
      },
    ],
    entries: [{ list: 'admins', entry: 'ro*' }],
  });
  expect(read('Feed items')).toEqual([{ id: 'i1', indicator: '203.0.113.9', title: 'Botnet' }]);
});
