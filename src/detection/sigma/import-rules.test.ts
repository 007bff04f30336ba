import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { changeQuotas } from '../../platform/orgs/limits/quotas.ts';

const { newOrg, deps } = await startApp();
const rule = (n: number, { title = `Rule ${n}`, modified = '2024-01-01', value = 'x' } = {}) => `title: ${title}
id: 00000000-0000-4000-8000-00000000000${n}
status: test
level: high
author: Ana Author
description: Finds things.
references: [https://example.com/a]
falsepositives: [Backup software]
tags: [attack.execution, attack.t1059.001]
modified: ${modified}
logsource: {product: acme, service: auth}
detection: {s: {event: ${value}}, condition: s}
`;
const load = (org: TestOrg, rules: string[], more: object = {}) =>
  callOk(org, 'POST', '/api/detections/import?format=sigma', {
    rules: rules.join('---\n'),
    allowUnknown: true,
    ...more,
  });
const outcomes = ({ results }: { results: { outcome: string; code: string | null }[] }) =>
  results.map(({ outcome, code }) => code ?? outcome);
const list = async (org: TestOrg) => (await callOk(org, 'GET', '/api/detections')).detections;

test('makes a detection of each rule with what the rule says', async () => {
  const org = await newOrg();
  const rules = [rule(1), rule(2), 'title: broken\n'];
  expect(outcomes(await load(org, rules, { dryRun: true }))).toEqual(['created', 'created', 'invalid']);
  expect(await list(org)).toEqual([]);
  const result = await load(org, rules, { enable: true });
  expect(outcomes(result)).toEqual(['created', 'created', 'invalid']);
  expect(result.results[2].detail).toMatch(/^line \d+: /);
  const [, first] = await list(org);
  expect(first).toMatchObject({
    name: 'Rule 1',
    detectionCategory: 'custom',
    enabled: true,
    cronSchedule: '0 * * * *',
    tags: ['sigma', 'level:high', 'status:test', 'attack.execution', 'attack.t1059.001'],
    description: expect.stringMatching(/Ana Author.*DRL 1\.1.*https:\/\/example\.com\/a/s),
    activeSystemPrompt: { prompt: expect.stringContaining('Backup software') },
    detectionQuery: expect.stringMatching(/FROM acme_auth.*'high' AS "severity", 'T1059.001' AS "technique"/s),
  });
  expect(outcomes(await load(org, rules))).toEqual(['unchanged', 'unchanged', 'invalid']);
});

test('updates changed rules, keeps edits, and proposes deletions', async () => {
  const org = await newOrg();
  await load(org, [rule(1), rule(2)]);
  const [second, first] = await list(org);
  await callOk(org, 'PUT', `/api/detections/${first.id}`, { name: 'My name', enabled: true });
  const changed = rule(1, { title: 'New title', modified: '2024-02-01', value: 'y' });
  const result = await load(org, [changed]);
  expect(outcomes(result)).toEqual(['updated']);
  expect(result.results[0].kept).toEqual([{ field: 'name', before: 'My name', after: 'New title' }]);
  expect(result.proposedDeletions).toEqual([
    { ruleId: '00000000-0000-4000-8000-000000000002', id: second.id, name: 'Rule 2' },
  ]);
  const after = await callOk(org, 'GET', `/api/detections/${first.id}`);
  expect(after).toMatchObject({ name: 'My name', enabled: true, detectionQuery: expect.stringContaining("'y'") });
  const older = await load(org, [rule(1, { modified: '2023-01-01', value: 'z' })]);
  expect(outcomes(older)).toEqual(['unchanged']);
  expect((await callOk(org, 'GET', `/api/detections/${first.id}`)).detectionQuery).toContain("'y'");
});

test('says nothing about other rules when one of many is imported, unless it is all of them', async () => {
  const org = await newOrg();
  await load(
    org,
    [1, 2, 3, 4, 5].map((n) => rule(n)),
  );
  expect((await load(org, [rule(1)])).proposedDeletions).toEqual([]);
  expect((await load(org, [rule(6)])).proposedDeletions).toEqual([]);
  expect((await load(org, [rule(1)], { complete: true, dryRun: true })).proposedDeletions).toHaveLength(5);
  expect(
    (
      await load(
        org,
        [1, 2, 3, 4].map((n) => rule(n)),
      )
    ).proposedDeletions,
  ).toHaveLength(2);
});

test('streams the progress of an import, and a problem as a response', async () => {
  const org = await newOrg();
  const send = (body: object) =>
    org.call('POST', '/api/detections/import?format=sigma', body, { accept: 'text/event-stream' });
  const { body: text } = await send({ rules: [rule(1), rule(2)].join('---\n'), allowUnknown: true });
  const events = text.trim().split('\n\n').map((one: string) => one.split('\n').map((line) => line.replace(/^\w+: /, ''))); // prettier-ignore
  expect(events.map(([type]: string[]) => type)).toEqual(['progress', 'progress', 'progress', 'result']);
  expect(JSON.parse(events[1]![1]!)).toEqual({ phase: 'storing', rulesDone: 0, rulesTotal: 2 });
  expect(outcomes(JSON.parse(events[3]![1]!))).toEqual(['created', 'created']);
  expect((await send({ rules: 'x', target: 'nowhere' })).status).toBe(400);
});

test('makes one detection of two rules without an id that have one title', async () => {
  const org = await newOrg();
  const unnamed = rule(1).replace(/^id: .*\n/m, '');
  expect(outcomes(await load(org, [unnamed, rule(2), unnamed]))).toEqual(['created', 'created', 'unchanged']);
  expect(await list(org)).toHaveLength(2);
});

test('a rule that is refused leaves the others of its batch', async () => {
  const org = await newOrg();
  await changeQuotas(deps, org, { changes: { enabledDetections: 2 }, operator: 'test' });
  const refused = await load(org, [rule(1), rule(2), rule(3), rule(4)], { enable: true });
  expect(outcomes(refused)).toEqual(['created', 'created', 'quota_reached', 'quota_reached']);
  expect((await list(org)).map(({ name }: { name: string }) => name).toSorted()).toEqual(['Rule 1', 'Rule 2']);
  expect(outcomes(await load(org, [rule(3)]))).toEqual(['created']);
});

test('imports no rule of an unknown log source, unless that is allowed', async () => {
  const org = await newOrg();
  const refused = await load(org, [rule(1)], { allowUnknown: false });
  expect(outcomes(refused)).toEqual(['unsupported']);
  expect(refused.results[0].detail).toContain('the log source acme/auth is unknown');
  expect(await list(org)).toEqual([]);
  expect(outcomes(await load(org, [rule(1)]))).toEqual(['created']);
});

test.each([
  ['?format=sigma', { detections: [] }, '/rules'],
  ['?format=sigma', {}, '/rules'],
  ['', { rules: 'x' }, '/detections'],
  ['', {}, '/detections'],
  ['?format=sigma', { rules: 'x', target: 'nowhere' }, '/target'],
])('rejects import %s with %j', async (query, body, pointer) => {
  const response = await (await newOrg()).call('POST', `/api/detections/import${query}`, body);
  expect([response.status, response.body.errors?.[0]?.pointer]).toEqual([400, pointer]);
});
