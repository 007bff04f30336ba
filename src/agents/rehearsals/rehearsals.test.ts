import { expect, test } from 'vitest';
import { callOk, postDetection } from '../../../test/support/detection/detection-factory.ts';
import { fileSource } from '../../../test/support/feed/kev-source.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { selectIn } from '../../../test/support/select-rows.ts';
import { executeDueRuns } from '../../detection/runs/workers/run-loops.ts';
import { acrossOrgs, inOrg } from '../../platform/db/db.ts';
import { sql } from 'kysely';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Coverage } from '../attack-coverage/coverage.schema.ts';
import type { ExceptionProposals } from '../../detection/detections/exceptions/exceptions.schema.ts';
import { loadAttacks } from './attack-events.ts';
import { rehearseNext } from './rehearse.ts';
import { claimDueAcrossOrgs } from './rehearsals.store.ts';
import type { Rehearsal, RehearsalList, RehearsalRun } from './rehearsals.schema.ts';
import { findTechnique } from '../../feed/reference-data/attack.ts';

let now = new Date('2026-03-02T10:00:00Z');
const app = await startApp({ clock: () => now });
const never = AbortSignal.timeout(60_000);

const call = (minutesAgo: number, fields: object = {}) => ({
  eventTime: new Date(now.getTime() - minutesAgo * 60_000).toISOString(),
  eventVersion: '1.08',
  eventSource: 'ec2.amazonaws.com',
  eventName: 'DescribeInstances',
  awsRegion: 'eu-north-1',
  sourceIPAddress: '198.51.100.7',
  userAgent: 'console',
  userIdentity: { type: 'IAMUser', arn: 'arn:aws:iam::444455556666:user/real', userName: 'real' },
  requestParameters: { instancesSet: {} },
  responseElements: null,
  readOnly: true,
  eventType: 'AwsApiCall',
  recipientAccountId: '444455556666',
  tlsDetails: { tlsVersion: 'TLSv1.3' },
  ...fields,
});
const start = (minutesAgo: number) => ({
  '@timestamp': new Date(now.getTime() - minutesAgo * 60_000).toISOString(),
  winlog: {
    event_id: 1,
    computer_name: 'WS-REAL',
    event_data: { CommandLine: 'notepad.exe', Image: 'C:\\Windows\\System32\\notepad.exe', User: 'CORP\\real' },
  },
});

const detection = (org: TestOrg, name: string, detectionQuery: string, fields: object = {}) =>
  postDetection(org, {
    name,
    detectionQuery,
    detectionCategory: 'custom',
    detectionCadence: 'hourly',
    entityField: 'who',
    ...fields,
  });

const grants = `SELECT _id, _time, userIdentity.arn AS who, eventName AS action, tlsDetails.tlsVersion AS tls FROM trail WHERE eventName = 'AttachUserPolicy'`;
const dumps = `SELECT _id, _time, winlog.computer_name AS who, winlog.event_data.CommandLine AS command, winlog.event_data.Image AS image
  FROM endpoints WHERE winlog.event_data.CommandLine LIKE '%lsass%' AND winlog.event_data.Image LIKE '%procdump64.exe'`;

const rehearse = (org: TestOrg, body: object): Promise<RehearsalRun> => callOk(org, 'POST', '/api/rehearsals', body);
const only = ({ rehearsals }: RehearsalRun): Rehearsal => {
  expect(rehearsals).toHaveLength(1);
  return rehearsals[0]!;
};
const namesOf = (list: Rehearsal['firedBy']): string[] => list.map(({ name }) => name);

/** Returns the rows of every table of an organization as text, but for those of rehearsals and the counts of its requests. */
async function readEverything(org: TestOrg): Promise<string> {
  const select = selectIn(app.deps.db, org.id);
  const tables = await select<{ name: string }>`
    select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and c.column_name = 'organization_id' and t.table_type = 'BASE TABLE'
      and c.table_name not in ('rehearsals', 'rehearsed_detections', 'api_keys', 'usage_days') order by 1`;
  expect(tables.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['memory', 'hits', 'run_days', 'outbox', 'segments', 'incidents']),
  );
  return inOrg(app.deps.db, org.id, async (tx) => {
    const texts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await sql<{
        text: string;
      }>`select coalesce(string_agg(t::text, e'\n' order by t::text), '') as text from ${sql.table(name)} t`.execute(
        tx,
      );
      texts.push(`${name}\n${rows[0]!.text}`);
    }
    return texts.join('\n\n');
  });
}

async function fill(org: TestOrg): Promise<TestOrg> {
  await callOk(org, 'POST', '/api/logs/trail', [call(120, { errorCode: 'AccessDenied' }), call(90), call(80)]);
  await callOk(org, 'POST', '/api/logs/endpoints', [start(100)]);
  const process = { command_line: 'ls', executable: '/usr/bin/ls' };
  const listing = {
    '@timestamp': call(100).eventTime,
    host: { name: 'web-1' },
    process,
    url: { domain: 'own.example' },
  };
  await callOk(org, 'POST', '/api/logs/servers', [listing]);
  return org;
}

test('says what fired, what an exception hid, what did not fire and what has no data, and changes nothing else', async () => {
  const org = await fill(await app.newOrg());
  await detection(org, 'Grants', grants);
  const muted = await detection(org, 'Muted', grants);
  await callOk(org, 'POST', `/api/detections/${muted.id}/exceptions`, {
    field: 'action',
    value: 'Attach*',
    reason: 'r',
  });
  await detection(org, 'Off', grants, { enabled: false });
  await detection(org, 'Dumps', dumps);
  await detection(org, 'First', grants, { detectionCategory: 'first_occurrence' });
  await detection(org, 'Broken', `SELECT _id, _time, error(userIdentity.arn) AS who FROM trail`);
  now = new Date('2026-03-02T12:00:00Z');
  await executeDueRuns(app.deps, now);
  const before = await readEverything(org);

  const granted = only(await rehearse(org, { technique: 'T1098.003' }));
  expect(granted).toMatchObject({ state: 'fired', datasets: ['trail'], events: 3 });
  expect(namesOf(granted.firedBy)).toEqual(expect.arrayContaining(['Grants']));
  expect(namesOf(granted.firedBy)).not.toEqual(expect.arrayContaining(['Off']));
  expect(namesOf(granted.mutedBy)).toEqual(['Muted']);
  // Only process starts were logged, so the accesses of another process that shipped detections look for are no data.
  const dumped = only(await rehearse(org, { technique: 't1003.001' }));
  expect(dumped).toMatchObject({ state: 'fired', datasets: ['endpoints'] });
  expect(namesOf(dumped.firedBy)).toEqual(['Dumps']);
  expect(only(await rehearse(org, { technique: 'T1490' }))).toMatchObject({ state: 'did_not_fire', firedBy: [] });
  expect(only(await rehearse(org, { technique: 'T1098.004' }))).toMatchObject({ datasets: ['servers'] });
  expect(only(await rehearse(org, { technique: 'T1621' }))).toMatchObject({
    state: 'no_data',
    events: 0,
    sources: expect.arrayContaining([expect.stringContaining('okta')]),
  });
  expect(await rehearse(org, { technique: 'T1600' })).toEqual({
    rehearsals: [],
    indicators: [],
    notRehearsable: ['T1600'],
    complete: true,
  });

  const coverage: Coverage = await callOk(org, 'GET', '/api/coverage');
  const states = coverage.techniques.flatMap(({ id, rehearsed }) => (rehearsed ? [[id, rehearsed.state]] : []));
  expect(states).toEqual([
    ['T1003.001', 'fired'],
    ['T1098.003', 'fired'],
    ['T1098.004', 'did_not_fire'],
    ['T1490', 'did_not_fire'],
    ['T1621', 'no_data'],
  ]);
  const list: RehearsalList = await callOk(org, 'GET', '/api/rehearsals');
  expect(list.rehearsals.map(({ technique }) => technique)).toEqual(states.map(([id]) => id));
  expect(list.failures).toMatchObject([{ name: 'Broken', failure: expect.stringContaining('error') }]);
  expect(await readEverything(org)).toBe(before);

  const other = await app.newOrg();
  expect((await callOk(other, 'GET', '/api/rehearsals')).rehearsals).toEqual([]);
  expect((await org.call('POST', '/api/rehearsals', { technique: 'T9999' })).status).toBe(400);
  expect((await org.call('POST', '/api/rehearsals', {})).status).toBe(400);
});

test('rehearses the techniques that an item of the feed mentions, and its indicators', async () => {
  const org = await fill(await app.newOrg());
  await detection(org, 'Dumps', dumps);
  await detection(org, 'Sighted', `SELECT _id, _time, indicator AS who, "match" FROM feed_sightings`);
  await detection(org, 'Visits', `SELECT _id, _time, url.domain AS who FROM servers WHERE url.domain = 'bad.example'`);
  const list = await fileSource(app, org, { kind: 'csv', visibility: 'private' });
  await list.pull('bad.example\n');
  const [item] = await selectIn(app.deps.db, org.id)<{ id: string }>`
    insert into item_terms (organization_id, item_id, pool_id, kind, value)
    select organization_id, id, pool_id, 'technique', t from items, unnest(array['T1003.001', 'T1600']) t returning item_id as id`;
  const before = await readEverything(org);
  const run = await rehearse(org, { itemId: item!.id });
  expect(await readEverything(org)).toBe(before);
  expect(run.notRehearsable).toEqual(expect.arrayContaining(['T1600']));
  expect(run.rehearsals).toEqual(
    expect.arrayContaining([expect.objectContaining({ technique: 'T1003.001', state: 'fired' })]),
  );
  const [domain] = run.indicators;
  expect(run.indicators).toHaveLength(1);
  expect(domain).toMatchObject({ kind: 'domain', state: 'fired', events: 1, datasets: ['feed_sightings', 'servers'] });
  expect(namesOf(domain!.firedBy).toSorted()).toEqual(['Sighted', 'Visits']);
  const stored: RehearsalList = await callOk(org, 'GET', '/api/rehearsals');
  expect(stored.rehearsals.map(({ technique }) => technique)).toEqual(['T1003.001']);
  const noFeed = await app.newKey(org, ['detections:read', 'detections:run']);
  expect((await noFeed.call('POST', '/api/rehearsals', { itemId: item!.id })).status).toBe(403);
  expect((await org.call('POST', '/api/rehearsals', { itemId: org.id })).status).toBe(404);
});

test('rehearses each night, and again when a detection is changed, in turn between organizations', async () => {
  await acrossOrgs(app.deps.db, (tx) => sql`update rehearsed_detections set due_at = null`.execute(tx));
  const [org, other] = [await app.newOrg(), await app.newOrg()].toSorted((a, b) => (a.id < b.id ? -1 : 1)) as [
    TestOrg,
    TestOrg,
  ];
  const { id } = await detection(await fill(org), 'Dumps', dumps);
  await detection(org, 'Grants', grants);
  await detection(other, 'Grants', grants);
  const claim = (after: OrgId | null) =>
    acrossOrgs(app.deps.db, (tx) =>
      claimDueAcrossOrgs(tx, { after, now, until: new Date(now.getTime() + 1), limit: 1 }),
    );
  const turns = [await claim(null), await claim(org.id), await claim(other.id), await claim(org.id)];
  expect(turns.map((turn) => turn?.orgId)).toEqual([org.id, other.id, org.id, undefined]);

  now = new Date(now.getTime() + 60_000);
  const next = (after: OrgId | null) => rehearseNext(app.deps, after, never);
  expect([await next(null), await next(org.id), await next(other.id)]).toEqual([org.id, other.id, undefined]);
  const state = async () => {
    const { rehearsals }: RehearsalList = await callOk(org, 'GET', '/api/rehearsals');
    expect(rehearsals).toHaveLength(loadAttacks().size);
    return rehearsals.find(({ technique }) => technique === 'T1003.001')?.state;
  };
  expect(await state()).toBe('fired');

  // An administrator dumps the process as well. An exception for the host would hide the attack, one for the command does not.
  const dump = (host: string, minute: number, file: string) => ({
    '@timestamp': `2026-03-02T12:${minute}:00Z`,
    winlog: {
      event_id: 1,
      computer_name: host,
      event_data: { CommandLine: `procdump64.exe -ma lsass.exe ${file}`, Image: 'C:\\tools\\procdump64.exe' },
    },
  });
  const dumped = [dump('WS-REAL', 31, 'case.dmp'), dump('WS-OTHER', 30, 'l.dmp')];
  await callOk(org, 'POST', '/api/logs/endpoints', dumped);
  now = new Date('2026-03-02T13:00:00Z');
  await executeDueRuns(app.deps, now);
  const { hits } = await callOk(org, 'GET', '/api/hits');
  const { id: hitId } = hits.find(({ entity }: { entity: string }) => entity === 'WS-REAL');
  await callOk(org, 'POST', `/api/hits/${hitId}/status`, { status: 'false_positive' });
  const proof: ExceptionProposals = await callOk(org, 'POST', `/api/detections/${id}/exceptions/proposals`, {});
  expect(proof).toMatchObject({ findings: 2, rehearsals: { fire: ['T1003.001'], doNotFire: [] } });
  const byCommand = { field: 'command', value: 'procdump64.exe -ma lsass.exe case.dmp' };
  expect(proof.proposals.map(({ exception, keeps }) => [exception, keeps.rehearsals])).toEqual([
    [{ entity: 'WS-REAL', ...byCommand }, 1],
    [byCommand, 1],
  ]);
  await callOk(org, 'PUT', `/api/detections/${id}`, { detectionQuery: dumps.replace('lsass', 'other') });
  expect([await next(null), await next(null)]).toEqual([org.id, undefined]);
  expect(await state()).toBe('did_not_fire');
  const mute = { entity: 'WS-REAL', reason: 'r' };
  await callOk(org, 'POST', `/api/detections/${id}/exceptions`, mute);
  expect([await next(null), await next(null)]).toEqual([org.id, undefined]);
  now = new Date('2026-03-03T01:00:00Z');
  expect(await next(null)).toBe(org.id);
});

test('every attack has a technique of ATT&CK and events', () => {
  expect(loadAttacks().size).toBeGreaterThan(100);
  for (const technique of loadAttacks().keys()) expect(findTechnique(technique)?.id, technique).toBe(technique);
});
