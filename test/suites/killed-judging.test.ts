import { expect, test } from 'vitest';
import { createOrganizationWithKey } from '../support/api-client.ts';
import { startCluster } from '../support/cluster/cluster.ts';
import { testDatabase } from '../support/database.ts';
import { verdictOn } from '../support/detection/judged-runs.ts';
import { newDataDir } from '../support/harness.ts';
import { startModelStandIn } from '../support/models/model-stand-in.ts';
import { runStatements } from '../support/run-statements.ts';
import { selectIn } from '../support/select-rows.ts';

const start = new Date('2026-03-02T00:30:00Z');
const hour = (n: number): Date => new Date(Date.UTC(2026, 2, 2, n));
const users = ['ann', 'bob', 'eve'];

/** The state of a run when its process is killed, and the number of answers from its model that are lost. Each run has its own organization. */
const moments = [
  { phase: 'examine', state: 'running', attempt: 2, lostCalls: 0 },
  { phase: 'judge', state: 'queued', attempt: 1, lostCalls: 0 },
  { phase: 'judge', state: 'running', attempt: 2, lostCalls: 1 },
] as const;

test('kill -9 of a process while runs examine, wait for a judge and are judged: one run each, and each hit once', async () => {
  const { db, url } = await testDatabase();
  const answers = Promise.withResolvers<void>();
  const runs = await Promise.all(
    moments.map(async (moment) => {
      const { id, key } = await createOrganizationWithKey(
        { db, clock: () => start },
        `${moment.phase} ${moment.state}`,
      );
      const stand = await startModelStandIn('anthropic', async (request, nth) => {
        // The second of three candidates, so that one verdict is stored.
        if (moment.lostCalls > 0 && nth === 2) await answers.promise;
        return verdictOn(request);
      });
      return { ...moment, id, key, stand, select: selectIn(db, id), alias: `m${moments.indexOf(moment)}` };
    }),
  );
  // An examination lasts, and a run that is handed over waits, until the process is killed.
  await runStatements(
    url,
    `create function wait_a_moment() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return new; end $$`,
    `create trigger slow before insert on candidates for each row when (new.organization_id = '${runs[0]!.id}') execute function wait_a_moment()`,
    `create function wait_for_judge() returns trigger language plpgsql as
      $$ begin new.retry_at := clock_timestamp() + interval '1 hour'; return new; end $$`,
    `create trigger slow before update on run_queue for each row when (old.model_alias = '' and new.model_alias <> ''
      and new.organization_id = '${runs[1]!.id}') execute function wait_for_judge()`,
  );
  const toModel = (baseUrl: string) => ({ provider: 'anthropic', model: 'stand-in', apiKey: 'the-model-key', baseUrl, entitiesAtOnce: 1 }); // prettier-ignore
  const env = {
    DATABASE_URL: url,
    TOCSIN_DATA_DIR: newDataDir(),
    TOCSIN_SPREAD_SECONDS: '0',
    TOCSIN_LOG_LEVEL: 'error',
    TOCSIN_FETCH_ALLOW: '127.0.0.1',
    TOCSIN_MODELS: JSON.stringify(Object.fromEntries(runs.map(({ alias, stand }) => [alias, toModel(stand.url)]))),
  };
  const cluster = await startCluster([env], start);
  try {
    for (const { key, alias } of runs) {
      const detection = {
        name: 'sign-ins',
        detectionCategory: 'custom',
        systemPrompt: 'Judge it.',
        detectionQuery: 'SELECT _id, _time, "user", action FROM auth',
        entityField: 'user',
        detectionCadence: 'hourly',
        modelAlias: alias,
        planningMode: 'never',
      };
      await cluster.ask('POST', '/api/detections', { key, body: JSON.stringify(detection) });
      const timestamp = new Date(hour(0).getTime() + 60_000).toISOString();
      const events = users.map((user) =>
        JSON.stringify({ id: `event-of-${user}`, timestamp, user, action: 'ConsoleLogin' }),
      );
      const headers = { 'content-type': 'application/x-ndjson' };
      await cluster.ask('POST', '/api/logs/auth', { key, body: events.join('\n'), headers });
    }
    cluster.setTime(hour(1));
    await cluster.killAllDuringRun(async () => {
      for (const { select, phase, state, lostCalls, stand } of runs) {
        const found = await select`select 1 from run_queue where phase = ${phase} and state = ${state}`;
        if (found.length === 0 || (lostCalls > 0 && stand.asked.length < 2)) return false;
      }
      return true;
    });
    answers.resolve();
    await runStatements(
      url,
      // The transaction of the killed process would sleep on.
      `select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`,
      'drop trigger slow on candidates',
      'drop trigger slow on run_queue',
    );
    for (const { select, attempt, lostCalls, stand } of runs) {
      await select`update run_queue set retry_at = null, lease_until = lease_until - interval '1 hour'`;
      await expect
        .poll(() => select`select status, attempt, hit_count from runs`, { timeout: 90_000 })
        .toEqual([{ status: 'completed', attempt, hit_count: users.length }]);
      expect(await select`select entity, occurrences, judged from hits order by entity`).toEqual(
        users.map((entity) => ({ entity, occurrences: 1, judged: true })),
      );
      expect(await select`select covered_to from coverage`).toEqual([{ covered_to: hour(1) }]);
      // A call whose verdict was not stored is repeated.
      expect(stand.asked).toHaveLength(users.length + lostCalls);
    }
    expect(await cluster.stop()).toEqual([0]);
  } finally {
    await cluster.stop();
  }
});
