import { expect, test } from 'vitest';
import { newOrgId, testDatabase } from '../../../test/support/database.ts';
import { startModelStandIn, type ModelBrain } from '../../../test/support/models/model-stand-in.ts';
import { acrossOrgs } from '../db/db.ts';
import { uuidv7 } from '../lib/ids.ts';
import { callMetered } from './ask-model.ts';
import type { ModelStep } from './model-request.ts';
import { readModelSettings } from './model-settings.ts';
import { listAliasUsage } from './model-usage.store.ts';
import { createModels } from './models.ts';
import { createSpendMeter } from './spend-meter.ts';

const { db } = await testDatabase();
const now = new Date('2026-03-31T12:00:00Z');
const { signal } = new AbortController();
const request = { system: 's', messages: [{ role: 'user' as const, content: 'Go.' }], tools: [], signal };
const usage = { input: 1000, output: 100 };

async function start(brains: Record<string, ModelBrain>, more: Record<string, Record<string, unknown>> = {}) {
  const stands = Object.fromEntries(
    await Promise.all(
      Object.entries(brains).map(
        async ([alias, brain]) => [alias, await startModelStandIn('anthropic', brain)] as const,
      ),
    ),
  );
  const entries = Object.entries(stands).map(([alias, { url }]) => [
    alias,
    { provider: 'anthropic', model: `model-${alias}`, apiKey: 'k', baseUrl: url, maxRetries: 0, ...more[alias] },
  ]);
  const models = createModels(readModelSettings(JSON.stringify(Object.fromEntries(entries)), {}));
  const orgId = await newOrgId(db);
  const steps: ModelStep[] = [];
  const spender = { orgId, detectionId: uuidv7(), id: uuidv7(), spent: { tokens: 0, costUsd: 0 }, elapsedMs: 0 };
  const model = models.find('first')!;
  const meter = createSpendMeter(
    { db, clock: () => now },
    { spender, overrides: {}, model, storeStep: async (_tx, step) => void steps.push(step) },
  ).startConversation();
  const call = () => callMetered({ model, ...meter }, { kind: 'call', subject: 'e', request });
  const usageOf = () => acrossOrgs(db, (tx) => listAliasUsage(tx, orgId, now));
  return { call, steps, stands, spender, usageOf };
}

const price = (inputPerMillion: number) => ({ price: { inputPerMillion, outputPerMillion: 0 } });

test('a fallback answers with its own price and budgets, and the steps say so', async () => {
  const { call, steps, spender, usageOf } = await start(
    { first: () => ({ status: 503 }), second: () => ({ status: 401 }), third: () => ({ text: 'ok', usage }) },
    { first: { fallbacks: ['second'], ...price(1) }, second: { fallbacks: ['third'] }, third: price(7) },
  );
  const { text, model } = await call();
  expect([text, model.alias]).toEqual(['ok', 'third']);
  expect(steps.map(({ alias, model: name, error }) => [alias, name, error !== undefined])).toEqual([
    ['first', 'anthropic/model-first', true],
    ['second', 'anthropic/model-second', true],
    ['third', 'anthropic/model-third', false],
  ]);
  expect(spender.spent).toEqual({ tokens: 1100, costUsd: 0.007 });
  expect(await usageOf()).toEqual([{ alias: 'third', calls: 1, tokens: 1100, costUsd: 0.007 }]);
});

test('an alias that is unavailable rests while its fallback answers', async () => {
  const { call, stands } = await start(
    { first: () => ({ status: 503 }), second: () => ({ text: 'ok' }) },
    { first: { fallbacks: ['second'] } },
  );
  await call();
  await call();
  expect([stands['first']!.asked.length, stands['second']!.asked.length]).toEqual([1, 2]);
});

test('fails with the failure of the alias if no fallback answers or has a budget left', async () => {
  const { call, stands } = await start(
    { first: () => ({ status: 404 }), second: () => ({ text: 'ok', usage }), third: () => ({ status: 500 }) },
    {
      first: { fallbacks: ['second', 'third'] },
      second: { ...price(1000), budgets: { usdPerDetectionDay: 0.5 } },
    },
  );
  expect((await call()).text).toBe('ok');
  await expect(call()).rejects.toMatchObject({ failure: { kind: 'model_unavailable', message: expect.any(String) } });
  expect(stands['second']!.asked).toHaveLength(1);
});

test('counts what an answer that was cut has cost', async () => {
  const { call, steps, spender } = await start(
    { first: () => ({ text: 'I', end: 'length', usage }) },
    { first: { ...price(2), maxOutputTokens: 100 } },
  );
  await expect(call()).rejects.toMatchObject({ failure: { kind: 'model_truncated' } });
  expect(steps).toMatchObject([{ tokens: usage, costUsd: 0.002, error: expect.stringContaining('maxOutputTokens') }]);
  expect(spender.spent.tokens).toBe(1100);
});
