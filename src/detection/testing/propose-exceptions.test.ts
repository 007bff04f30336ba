import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startApp } from '../../../test/support/harness.ts';
import type { ExceptionProposals } from '../detections/exceptions/exceptions.schema.ts';
import { executeDueRuns } from '../runs/workers/run-loops.ts';

const time = { now: new Date('2026-03-02T00:30:00Z') };
const { deps, newOrg } = await startApp({ clock: () => time.now });

test('turns false positives into an exception that keeps true positives and tests, and counts what it hides', async () => {
  const org = await newOrg();
  const { id } = await callOk(org, 'POST', '/api/detections', {
    name: 'Sign-ins',
    detectionCategory: 'custom',
    systemPrompt: 'Judge it.',
    detectionQuery: `SELECT "user", src_ip, agent, 'T1078.004' AS technique, _id, _time FROM logins`,
    entityField: 'user',
    detectionCadence: 'hourly',
  });
  const runAt = async (hour: number, logins: [user: string, ip: string, agent: string][]) => {
    time.now = new Date(Date.UTC(2026, 2, 2, hour - 1, 30));
    const events = logins.map(([user, ip, agent]) => ({ '@timestamp': time.now, user, src_ip: ip, agent }));
    await callOk(org, 'POST', '/api/logs/logins', events.map((event) => JSON.stringify(event)).join('\n'));
    time.now = new Date(Date.UTC(2026, 2, 2, hour));
    await executeDueRuns(deps, time.now, { concurrency: 1 });
  };
  const users = ['u1', 'u2', 'u3', 'u4', 'u5', 'u6'];
  await runAt(1, [
    ...users.map((user): [string, string, string] => [user, '10.9.0.7', 'probe']),
    ['eve', '10.9.0.7', 'curl'],
    ['ada', '192.0.2.1', 'probe'],
  ]);
  const { hits } = await callOk(org, 'GET', '/api/hits');
  const idOf = (user: string): string => hits.find(({ entity }: { entity: string }) => entity === user).id;
  await callOk(org, 'POST', `/api/hits/${idOf('eve')}/status`, { status: 'true_positive' });
  for (const user of users) await callOk(org, 'POST', `/api/hits/${idOf(user)}/status`, { status: 'false_positive' });
  const path = `/api/detections/${id}/exceptions`;
  const propose = (body: object) => callOk(org, 'POST', `${path}/proposals`, body);
  const narrow = { field: 'src_ip', value: '10.9.0.7', conditions: [{ field: 'agent', value: 'probe' }] };
  const hitIds = users.map(idOf);
  const before = await propose({});
  expect(before).toMatchObject({ findings: 8, isComplete: true, reason: null, tests: { fire: 0, doNotFire: [] } });
  expect(before.hitIds.toSorted()).toEqual(hitIds.toSorted());
  const summarize = ({ exception, hides, keeps }: ExceptionProposals['proposals'][number]) => [
    exception,
    hides.others,
    hides.byStatus,
    keeps.truePositives,
    keeps.tests,
  ];
  expect(before.proposals.map(summarize)).toEqual([
    [narrow, 0, { false_positive: 6 }, 1, 0],
    [{ field: 'agent', value: 'probe' }, 1, { false_positive: 6, open: 1 }, 1, 0],
  ]);
  const attack = { '@timestamp': '2026-03-02T00:10:00Z', user: 'mallory', src_ip: '198.51.100.9', agent: 'probe' };
  await callOk(org, 'PUT', `/api/detections/${id}/tests`, {
    tests: [
      { name: 'attack', events: [attack], expect: ['mallory'] },
      { name: 'broken', events: [attack], expect: ['nobody'] },
    ],
  });
  const { tests, proposals } = await propose({ hitIds: hitIds.map((one) => one.toUpperCase()) });
  expect(tests).toEqual({ fire: 1, doNotFire: ['broken'] });
  expect(proposals.map(summarize)).toEqual([[narrow, 0, { false_positive: 6 }, 1, 1]]);
  const wrong = await org.call('POST', `${path}/proposals`, { hitIds: [idOf('u1'), idOf('eve')] });
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([400, '/hitIds/1']);

  const expiresAt = '2026-03-02T03:00:00.000Z';
  await callOk(org, 'POST', path, {
    ...proposals[0].exception,
    reason: 'our probe',
    owner: 'grace',
    hitIds,
    expiresAt,
  });
  await runAt(2, [
    ['u7', '10.9.0.7', 'probe'],
    ['bob', '10.9.0.7', 'curl'],
  ]);
  expect((await callOk(org, 'GET', path)).exceptions).toMatchObject([
    { owner: 'grace', hitIds, matches: 1, mutedRows: 1, expiresSoon: true, active: true, examples: [{ entity: 'u7' }] },
  ]);
  expect(await propose({})).toMatchObject({ hitIds: [], proposals: [], reason: expect.stringContaining('already') });
  await runAt(4, [['u8', '10.9.0.7', 'probe']]);
  const { hits: raised } = await callOk(org, 'GET', '/api/hits');
  const entities = raised.map(({ entity }: { entity: string }) => entity);
  expect(entities.toSorted()).toEqual(['ada', 'bob', 'eve', ...users, 'u8']);
});
