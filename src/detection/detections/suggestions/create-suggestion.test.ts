import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';
import type { TestOrg } from '../../../../test/support/harness.ts';
import { createSuggestion } from './create-suggestion.ts';
import { asked, input } from '../../../../test/support/detection/detection-factory.ts';

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
  const caller = { orgId: org.id, keyId: null, scopes: new Set<string>() };
  return createSuggestion(deps, caller, { ...suggestion, ...more }, { proposal: { key, tests: [], estimate: null } });
}

/** The code of the refusal, or that it was taken. */
const outcome = (made: Promise<unknown>): Promise<string> =>
  made.then(
    () => 'taken',
    (error: { errors?: { code: string }[] }) => error.errors?.[0]?.code ?? String(error),
  );

test.each([
  ['the same again', {}, 'template:one:x', 'suggestion_dismissed'],
  [
    'other words, case and blanks',
    { name: 'n', systemPrompt: 'q', detectionQuery: ' select a\nfrom X ' },
    'other',
    'suggestion_dismissed',
  ],
  [
    'another text of the same proposal',
    { detectionQuery: 'SELECT a, b FROM x' },
    'template:one:x',
    'suggestion_dismissed',
  ],
  ['another query', { detectionQuery: 'SELECT b FROM x' }, 'other', 'taken'],
  ['another category', { detectionCategory: 'sequence_pattern' }, 'other', 'taken'],
] as [string, Change, string, string][])('after a dismissal %s: %s', async (_name, more, key, expected) => {
  const org = await newOrg();
  const { id } = await propose(org);
  expect(await outcome(propose(org, more, key))).toBe(expected === 'taken' ? 'taken' : 'suggestion_known');
  if (expected === 'taken') return;
  await asked(org, 'POST', `/api/detections/${id}/dismiss`, { reason: 'noisy' });
  expect(await outcome(propose(org, more, key))).toBe(expected);
  // Nobody else's affair.
  expect(await outcome(propose(await newOrg(), more, key))).toBe('taken');
});

test('what was rewritten before it was dismissed stays away as what it was and as what it became', async () => {
  const org = await newOrg();
  const { id } = await propose(org);
  await asked(org, 'PUT', `/api/detections/${id}`, { detectionQuery: 'SELECT mine FROM x' });
  await asked(org, 'DELETE', `/api/detections/${id}`);
  expect(await outcome(propose(org))).toBe('suggestion_dismissed');
  expect(await outcome(propose(org, { detectionQuery: 'select MINE from x' }, 'other'))).toBe('suggestion_dismissed');
});

test('it stays away for 90 days from the last dismissal, to the millisecond; a person may bring it back at once', async () => {
  const org = await newOrg();
  const { id } = await propose(org);
  await asked(org, 'POST', `/api/detections/${id}/dismiss`);
  now = new Date(start.getTime() + 10 * day);
  await asked(org, 'POST', `/api/detections/${id}/restore`);
  await asked(org, 'POST', `/api/detections/${id}/dismiss`);
  now = new Date(start.getTime() + 100 * day - 1);
  expect(await outcome(propose(org))).toBe('suggestion_dismissed');
  const byHand = await asked(org, 'POST', '/api/detections/suggestions', { ...input(), ...suggestion });
  await asked(org, 'POST', `/api/detections/${byHand.id}/dismiss`);
  now = new Date(start.getTime() + 190 * day);
  expect(await outcome(propose(org))).toBe('taken');
  now = start;
});

test('an accepted one that was deleted does not come back either', async () => {
  const org = await newOrg();
  const { id } = await propose(org);
  await asked(org, 'POST', `/api/detections/${id}/accept`);
  expect(await outcome(propose(org))).toBe('suggestion_known');
  await asked(org, 'DELETE', `/api/detections/${id}`);
  expect(await outcome(propose(org))).toBe('suggestion_dismissed');
});

test('technique, passages and tests are kept with it', async () => {
  const org = await newOrg();
  const evidence = [{ itemId: 'i', evidenceRef: 'provenance.supportingPassages[0]' }];
  const record = await asked(org, 'POST', '/api/detections/suggestions', input({ technique: 'T1059.001', evidence }));
  expect(record).toMatchObject({ technique: 'T1059.001', evidence, estimate: null });
  expect((await org.call('POST', '/api/detections/suggestions', input({ technique: 'x' }))).status).toBe(400);
});
