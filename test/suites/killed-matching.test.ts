import { expect, test } from 'vitest';
import { createOrganizationWithKey } from '../support/api-client.ts';
import { startCluster } from '../support/cluster/cluster.ts';
import { testDatabase } from '../support/database.ts';
import { newDataDir } from '../support/harness.ts';
import { runStatements } from '../support/run-statements.ts';
import { selectIn, type SelectRows } from '../support/select-rows.ts';

const start = new Date('2026-03-02T00:30:00Z');
const nextSlot = new Date('2026-03-02T01:00:00Z');
const query = "SELECT _id, _time, user, action FROM auth WHERE action = 'grant-root'";
const headers = { 'content-type': 'application/x-ndjson' };
const waitMs = { timeout: 90_000 };

/** The states in which all processes are killed, each of an organization of its own, and the trigger that makes it last. */
const states = [
  {
    name: 'events are matched',
    find: (select: SelectRows) => select`select 1 from match_positions where worker is not null`,
    slow: `before update on match_positions for each row when (old.worker is not null and new.worker is null and ORG) execute function wait_a_moment()`,
    table: 'match_positions',
  },
  {
    name: 'a window waits for its run',
    find: (select: SelectRows) =>
      select`select 1 from matched_windows join run_queue using (detection_id) where state = 'queued'`,
    slow: `before insert on run_queue for each row when (new.kind = 'continuous' and ORG) execute function start_later()`,
    table: 'run_queue',
  },
  {
    name: 'a run examines the window',
    find: (select: SelectRows) => select`select 1 from run_queue where kind = 'continuous' and state = 'running'`,
    slow: 'before insert on candidates for each row when (ORG) execute function wait_a_moment()',
    table: 'candidates',
  },
];

test('kill -9 of two matchers at every step: each event is a hit once, and the slot missed none', async () => {
  const { db, url } = await testDatabase();
  await runStatements(
    url,
    `create function wait_a_moment() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return new; end $$`,
    `create function start_later() returns trigger language plpgsql as
      $$ begin new.retry_at := clock_timestamp() + interval '1 hour'; return new; end $$`,
  );
  const env = {
    DATABASE_URL: url,
    TOCSIN_DATA_DIR: newDataDir(),
    TOCSIN_SPREAD_SECONDS: '0',
    TOCSIN_LOG_LEVEL: 'error',
  };
  const cluster = await startCluster([env, env], start);
  try {
    const organizations = await Promise.all(
      states.map(async (state) => {
        const { id, key } = await createOrganizationWithKey({ db, clock: () => start }, state.name);
        const send = (users: string[], action: string) => {
          const lines = users.map((user) => JSON.stringify({ timestamp: start.toISOString(), user, action }));
          return cluster.ask('POST', '/api/logs/auth', { key, body: lines.join('\n'), headers });
        };
        return { ...state, id, key, send, select: selectIn(db, id) };
      }),
    );
    for (const { id, key, send, slow, select } of organizations) {
      await send(['old'], 'none');
      const detection = {
        name: 'Root granted',
        detectionCategory: 'custom',
        systemPrompt: 'Judge it.',
        detectionQuery: query,
        entityField: 'user',
        detectionCadence: 'hourly',
        continuous: true,
      };
      await cluster.ask('POST', '/api/detections', { key, body: JSON.stringify(detection) });
      await expect.poll(() => select`select 1 as one from match_positions`, waitMs).toHaveLength(1);
      await runStatements(url, `create trigger slow ${slow.replace('ORG', `new.organization_id = '${id}'`)}`);
    }
    await Promise.all(organizations.map(({ send }) => send(['ada', 'ben'], 'grant-root')));
    await cluster.killAllDuringRun(async () => {
      for (const { find, select } of organizations) if ((await find(select)).length === 0) return false;
      return true;
    });
    await runStatements(
      url,
      // The transactions of the killed processes would sleep on.
      `select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`,
      ...states.map(({ table }) => `drop trigger slow on ${table}`),
    );
    for (const { send, select } of organizations) {
      await select`update run_queue set retry_at = null, lease_until = lease_until - interval '1 hour'`;
      await select`update match_positions set lease_until = lease_until - interval '1 hour'`;
      await send(['cyn'], 'grant-root');
    }
    const hits = ['ada', 'ben', 'cyn'].map((entity) => ({ entity, occurrences: 1 }));
    const listHits = (select: SelectRows) => select`select entity, occurrences from hits order by entity`;
    for (const { select } of organizations) await expect.poll(() => listHits(select), waitMs).toEqual(hits);
    cluster.setTime(nextSlot);
    for (const { select } of organizations) {
      const listSlots = () => select`select status, hit_count from runs where trigger = 'schedule'`;
      await expect.poll(listSlots, waitMs).toEqual([{ status: 'completed', hit_count: 0 }]);
      expect(await listHits(select)).toEqual(hits);
      expect(await select`select missed from continuous_detections`).toEqual([{ missed: 0 }]);
    }
    expect(await cluster.stop()).toEqual([0, 0]);
  } finally {
    await cluster.stop();
  }
});
