import { setTimeout as sleep } from 'node:timers/promises';
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

type Entry = { phase: string; state: string };

// A process is killed while it examines a window, between the two queues, and while a model judges.
test.each<Entry>([
  { phase: 'examine', state: 'running' },
  { phase: 'judge', state: 'queued' },
  { phase: 'judge', state: 'running' },
])(
  'kill -9 of a process with a run that is $state in the phase $phase: one run, each hit once',
  async (at) => {
    const { db, url } = await testDatabase();
    const { id: orgId, key } = await createOrganizationWithKey({ db, clock: () => start }, 'one');
    const select = selectIn(db, orgId);
    let kill = (): void => undefined;
    let isKilled = false;
    const stand = await startModelStandIn('anthropic', async (request, nth) => {
      // The second of three candidates, so that one verdict is stored.
      if (at.state === 'running' && at.phase === 'judge' && nth === 2 && !isKilled) {
        isKilled = true;
        kill();
      }
      await sleep(20);
      return verdictOn(request);
    });
    const model = { provider: 'anthropic', model: 'stand-in', apiKey: 'the-model-key', baseUrl: stand.url };
    // A run that is handed over waits for a moment, so that the process can be killed then.
    if (at.phase === 'judge' && at.state === 'queued')
      await runStatements(
        url,
        `create function wait_for_judge() returns trigger language plpgsql as
      $$ begin new.retry_at := clock_timestamp() + interval '2 s'; return new; end $$`,
        `create trigger wait_for_judge before update on run_queue for each row
      when (old.model_alias = '' and new.model_alias <> '') execute function wait_for_judge()`,
      );
    const env = {
      DATABASE_URL: url,
      TOCSIN_DATA_DIR: newDataDir(),
      TOCSIN_SPREAD_SECONDS: '0',
      TOCSIN_LOG_LEVEL: 'error',
      TOCSIN_FETCH_ALLOW: '127.0.0.1',
      TOCSIN_MODELS: JSON.stringify({ m: { ...model, entitiesAtOnce: 1 } }),
    };
    const cluster = await startCluster([env], start);
    kill = () => cluster.killOne(0);
    try {
      const detection = {
        name: 'sign-ins',
        detectionCategory: 'custom',
        systemPrompt: 'Judge it.',
        detectionQuery: 'SELECT _id, _time, "user", action FROM auth',
        entityField: 'user',
        detectionCadence: 'hourly',
        modelAlias: 'm',
        planningMode: 'never',
      };
      await cluster.ask('POST', '/api/detections', { key, body: JSON.stringify(detection) });
      const timestamp = new Date(hour(0).getTime() + 60_000).toISOString();
      const events = users.map((user) =>
        JSON.stringify({ id: `event-of-${user}`, timestamp, user, action: 'ConsoleLogin' }),
      );
      const headers = { 'content-type': 'application/x-ndjson' };
      await cluster.ask('POST', '/api/logs/auth', { key, body: events.join('\n'), headers });
      cluster.setTime(hour(1));
      const meets = async (): Promise<boolean> =>
        (await select`select 1 from run_queue where phase = ${at.phase} and state = ${at.state}`).length > 0;
      if (at.phase === 'examine' || at.state === 'queued') await cluster.killAllDuringRun(meets);
      else await expect.poll(() => isKilled).toBe(true);
      await select`update run_queue set lease_until = lease_until - interval '1 hour'`;
      await expect
        .poll(() => select`select status, attempt, hit_count from runs`, { timeout: 90_000 })
        .toEqual([{ status: 'completed', attempt: at.state === 'queued' ? 1 : 2, hit_count: users.length }]);
      expect(await select`select entity, occurrences, judged from hits order by entity`).toEqual(
        users.map((entity) => ({ entity, occurrences: 1, judged: true })),
      );
      expect(await select`select covered_to from coverage`).toEqual([{ covered_to: hour(1) }]);
      // A call whose verdict was not stored is repeated.
      expect(stand.asked).toHaveLength(users.length + (isKilled ? 1 : 0));
      expect(await cluster.stop()).toEqual([0]);
    } finally {
      await cluster.stop();
    }
  },
  180_000,
);
