import { expect, test } from 'vitest';
import { createOrganizationWithKey } from '../support/api-client.ts';
import { startCluster } from '../support/cluster/cluster.ts';
import { speedUpLeases } from '../support/cluster/fast-leases.ts';
import { testDatabase } from '../support/database.ts';
import { newDataDir } from '../support/harness.ts';
import { runStatements } from '../support/run-statements.ts';
import { selectIn, type SelectRows } from '../support/select-rows.ts';

const start = new Date('2026-03-02T00:30:00Z');
const nextSlot = new Date('2026-03-02T01:00:00Z');
const query = "SELECT _id, _time, user, action FROM auth WHERE action = 'grant-root'";

/** The state in which all processes are killed, and how a test makes it last. */
const states = [
  {
    state: 'events are matched',
    find: (select: SelectRows) => select`select 1 from match_positions where worker is not null`,
    slow: `create trigger slow before update on match_positions for each row
      when (old.worker is not null and new.worker is null) execute function wait_a_moment()`,
  },
  {
    state: 'a window waits for its run',
    find: (select: SelectRows) =>
      select`select 1 from matched_windows join run_queue using (detection_id) where state = 'queued'`,
    slow: `create trigger slow before insert on run_queue for each row when (new.kind = 'continuous') execute function start_later()`,
  },
  {
    state: 'a run examines the window',
    find: (select: SelectRows) => select`select 1 from run_queue where kind = 'continuous' and state = 'running'`,
    slow: 'create trigger slow before insert on candidates for each row execute function wait_a_moment()',
  },
];

test.each(states)(
  'kill -9 of two matchers while $state: each event is a hit once, and the slot missed none',
  async ({ find, slow }) => {
    const { db, url } = await testDatabase();
    const { id: orgId, key } = await createOrganizationWithKey({ db, clock: () => start }, 'one');
    const select = selectIn(db, orgId);
    await speedUpLeases(url, 20);
    await runStatements(
      url,
      `create function wait_a_moment() returns trigger language plpgsql as $$ begin perform pg_sleep(1.5); return new; end $$`,
      `create function start_later() returns trigger language plpgsql as
        $$ begin new.retry_at := clock_timestamp() + interval '30 s'; return new; end $$`,
      slow,
    );
    const env = {
      DATABASE_URL: url,
      TOCSIN_DATA_DIR: newDataDir(),
      TOCSIN_SPREAD_SECONDS: '0',
      TOCSIN_LOG_LEVEL: 'error',
    };
    const cluster = await startCluster([env, env], start);
    const headers = { 'content-type': 'application/x-ndjson' };
    const send = (users: string[], action: string) => {
      const lines = users.map((user) => JSON.stringify({ timestamp: start.toISOString(), user, action }));
      return cluster.ask('POST', '/api/logs/auth', { key, body: lines.join('\n'), headers });
    };
    try {
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
      await expect.poll(() => select`select 1 as one from match_positions`, { timeout: 60_000 }).toHaveLength(1);
      await send(['ada', 'ben'], 'grant-root');
      await cluster.killAllDuringRun(async () => (await find(select)).length > 0);
      await send(['cyn'], 'grant-root');
      const listHits = () => select`select entity, occurrences from hits order by entity`;
      const hits = ['ada', 'ben', 'cyn'].map((entity) => ({ entity, occurrences: 1 }));
      await expect.poll(listHits, { timeout: 90_000 }).toEqual(hits);
      cluster.setTime(nextSlot);
      const listSlots = () => select`select status, hit_count from runs where trigger = 'schedule'`;
      await expect.poll(listSlots, { timeout: 90_000 }).toEqual([{ status: 'completed', hit_count: 0 }]);
      expect(await listHits()).toEqual(hits);
      expect(await select`select missed from continuous_detections`).toEqual([{ missed: 0 }]);
      expect(await cluster.stop()).toEqual([0, 0]);
    } finally {
      await cluster.stop();
    }
  },
  180_000,
);
