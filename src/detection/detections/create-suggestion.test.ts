import { expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';
import type { TestOrg } from '../../../test/support/harness.ts';
import { createSuggestion } from './create-detection.ts';
import { callOk, detectionBody } from '../../../test/support/detection/detection-factory.ts';

const day = 86_400_000;
const start = new Date('2026-03-02T10:00:00.000Z');
let now = start;
const { deps, newOrg } = await startApp({ clock: () => now });

const suggestion = {
  name: 's',
  detectionCategory: 'custom',
  systemPrompt: 'p',
  detectionQuery: 'SELECT  a FROM x',
} as const;
type Change = Partial<Record<'name' | 'detectionQuery' | 'systemPrompt', string>> & {
  detectionCategory?: 'sequence_pattern';
};

function propose(org: TestOrg, more: Change = {}, key = 'template:one:x') {
  const caller = { orgId: org.id, keyId: null, scopes: new Set<string>(), expiresAt: null };
  return createSuggestion(deps, caller, { ...suggestion, ...more }, { proposal: { key, tests: [], estimate: null } });
}

/** Returns the error code, or 'created'. */
const outcome = (made: Promise<unknown>): Promise<string> =>
  made.then(
    () => 'created',
    (error: { errors?: { code: string }[] }) => error.errors?.[0]?.code ?? String(error),
  );

test.each([
  ['the same text', {}, 'template:one:x', 'suggestion_dismissed'],
  [
    'a different name, prompt, case and white space',
    { name: 'n', systemPrompt: 'q', detectionQuery: ' select a\nfrom X ' },
    'other',
    'suggestion_dismissed',
  ],
  [
    'a different text of the same proposal',
    { detectionQuery: 'SELECT a, b FROM x' },
    'template:one:x',
    'suggestion_dismissed',
  ],
  ['a different query', { detectionQuery: 'SELECT b FROM x' }, 'other', 'created'],
  ['a different category', { detectionCategory: 'sequence_pattern' }, 'other', 'created'],
] as [string, Change, string, string][])(
  'a suggestion with %s after a dismissal: %s',
  async (_name, more, key, expected) => {
    const org = await newOrg();
    const { id } = await propose(org);
    expect(await outcome(propose(org, more, key))).toBe(expected === 'created' ? 'created' : 'suggestion_known');
    if (expected === 'created') return;
    await callOk(org, 'POST', `/api/detections/${id}/dismiss`, { reason: 'noisy' });
    expect(await outcome(propose(org, more, key))).toBe(expected);
    // Other organizations are not affected.
    expect(await outcome(propose(await newOrg(), more, key))).toBe('created');
  },
);

test('refuses look-alikes of the original and the edited text of a dismissed suggestion', async () => {
  const org = await newOrg();
  const { id } = await propose(org);
  await callOk(org, 'PUT', `/api/detections/${id}`, { detectionQuery: 'SELECT mine FROM x' });
  await callOk(org, 'DELETE', `/api/detections/${id}`);
  expect(await outcome(propose(org))).toBe('suggestion_dismissed');
  expect(await outcome(propose(org, { detectionQuery: 'select MINE from x' }, 'other'))).toBe('suggestion_dismissed');
});

test('refuses look-alikes for exactly 90 days after the last dismissal, except from people', async () => {
  const org = await newOrg();
  const { id } = await propose(org);
  await callOk(org, 'POST', `/api/detections/${id}/dismiss`);
  now = new Date(start.getTime() + 10 * day);
  await callOk(org, 'POST', `/api/detections/${id}/restore`);
  await callOk(org, 'POST', `/api/detections/${id}/dismiss`);
  now = new Date(start.getTime() + 100 * day - 1);
  expect(await outcome(propose(org))).toBe('suggestion_dismissed');
  const byHand = await callOk(org, 'POST', '/api/detections/suggestions', { ...detectionBody(), ...suggestion });
  await callOk(org, 'POST', `/api/detections/${byHand.id}/dismiss`);
  now = new Date(start.getTime() + 190 * day);
  expect(await outcome(propose(org))).toBe('created');
  now = start;
});

test('refuses a look-alike of an accepted suggestion that was deleted', async () => {
  const org = await newOrg();
  const { id } = await propose(org);
  await callOk(org, 'POST', `/api/detections/${id}/accept`);
  expect(await outcome(propose(org))).toBe('suggestion_known');
  await callOk(org, 'DELETE', `/api/detections/${id}`);
  expect(await outcome(propose(org))).toBe('suggestion_dismissed');
});

test('stores technique, evidence and tests with the suggestion', async () => {
  const org = await newOrg();
  const evidence = [{ itemId: 'i', evidenceRef: 'provenance.supportingPassages[0]' }];
  const record = await callOk(
    org,
    'POST',
    '/api/detections/suggestions',
    detectionBody({ technique: 'T1059.001', evidence }),
  );
  expect(record).toMatchObject({ technique: 'T1059.001', evidence, estimate: null });
  expect((await org.call('POST', '/api/detections/suggestions', detectionBody({ technique: 'x' }))).status).toBe(400);
});
