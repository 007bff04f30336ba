import { afterAll, expect, test } from 'vitest';
import type { OrgId } from '../../src/platform/lib/org-id.ts';
import { createCaller, createOrganizationWithKey, type ApiCall } from '../support/api-client.ts';
import { speedUpLeases } from '../support/cluster/fast-leases.ts';
import { testDatabase } from '../support/database.ts';
import { s3Credentials, startS3Server } from '../support/detection/s3-server.ts';
import { hasPgbouncer, startPgbouncer } from '../support/platform/pgbouncer.ts';
import { newProgramDir, removeProgramDir, runProgram, startProgram, until, type Program } from '../support/program.ts';
import { selectIn } from '../support/select-rows.ts';

/*
 * Two processes `tocsin serve` and two `tocsin work` on one database and one bucket, each with a data directory of its own, behind PgBouncer in
 * transaction mode if it is installed. One of each kind is killed with kill -9 while detections run.
 */
if (!hasPgbouncer)
  console.warn('PgBouncer is not installed: its tests are skipped, and the processes connect to the server directly.');
const perOrg = 4;
const { db, url } = await testDatabase();
const s3 = await startS3Server();
const pooler = hasPgbouncer ? await startPgbouncer(url) : undefined;
const orgs = await Promise.all(['one', 'two'].map((name) => createOrganizationWithKey({ db }, name)));
const dirs = Array.from({ length: 4 }, newProgramDir);
const programs: Program[] = [];
const database = pooler ? { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: url } : { DATABASE_URL: url };
const time = new Date(Date.now() - 1_800_000);
const window = { from: new Date(time.getTime() - 60_000), to: new Date(time.getTime() + 60_000) };
const env = {
  ...database,
  ...s3Credentials,
  TOCSIN_LOGS_URL: s3.url,
  TOCSIN_SECRET_KEY: 'k'.repeat(32),
  TOCSIN_RUNS_AT_ONCE: '2',
};

afterAll(async () => {
  await Promise.all(programs.map((program) => program.kill('SIGKILL')));
  await pooler?.stop();
  dirs.forEach(removeProgramDir);
});

async function start(command: string, dir: string): Promise<Program> {
  const program = await startProgram(dir, env, command);
  programs.push(program);
  return program;
}

const detection = (rule: number) => ({
  name: `rule ${rule}`,
  detectionCategory: 'privilege_escalation',
  systemPrompt: 'Judge it.',
  detectionQuery: `SELECT _id, _time, "user" FROM auth WHERE rule = ${rule}`,
  entityField: 'user',
});

const countCompleted = async (): Promise<number> =>
  (await selectIn(db)`select id from runs where status = 'completed'`).length;

/** Requests the runs again whose query engine did not start in time on a busy machine. */
async function repeatTimedOut(orgId: OrgId, call: ApiCall): Promise<void> {
  const timedOut = await selectIn(db, orgId)<{ id: string }>`
    select distinct detection_id as id from runs r where failure like '%query_timeout%'
      and not exists (select from runs o where o.detection_id = r.detection_id and o.status in ('queued', 'running', 'completed'))`;
  for (const { id } of timedOut) await call('POST', `/api/detections/${id}/run`, window);
}

async function expectRevokedKeyRefused(one: Program, two: Program): Promise<void> {
  const admin = createCaller(one.url, orgs[0]!.key);
  const { id, key } = await admin('POST', '/api/keys', { name: 'short-lived', scopes: ['detections:read'] });
  const ask = async () =>
    (await fetch(`${two.url}/api/detections`, { headers: { authorization: `Bearer ${key}` } })).status;
  expect(await ask()).toBe(200);
  await admin('DELETE', `/api/keys/${id}`);
  // It is trusted for five more seconds (authenticate.test.ts).
  await expect.poll(ask, { interval: 100 }).toBe(401);
}

test(
  'two servers and two workers, one of each killed: every run completes once, nobody sees what is not theirs, and a key that one revokes is refused by the other',
  { timeout: 400_000 },
  async () => {
    // Leases outlast their renewal, so a slow machine loses no lease of a process that was not killed.
    await speedUpLeases(url, 3);
    const first = await start('serve', dirs[0]!);
    const second = await start('serve', dirs[1]!);
    await expectRevokedKeyRefused(first, second);
    const workers = await Promise.all(dirs.slice(2).map((dir) => start('work', dir)));
    const callsOf = (org: (typeof orgs)[number]): [ApiCall, ApiCall] => [
      createCaller(first.url, org.key),
      createCaller(second.url, org.key),
    ];
    for (const org of orgs) {
      // One server takes the first half, the other one the second half.
      for (const [half, call] of callsOf(org).entries()) {
        const rules = Array.from({ length: perOrg / 2 }, (_, n) => half * (perOrg / 2) + n);
        await call(
          'POST',
          '/api/logs/auth',
          rules.map((rule) => ({ time: time.toISOString(), rule, user: `${org.id} ${rule}` })),
        );
      }
    }
    for (const org of orgs) {
      const calls = callsOf(org);
      for (let rule = 0; rule < perOrg; rule += 1) {
        const { id } = await calls[rule % 2]!('POST', '/api/detections', detection(rule));
        await calls[(rule + 1) % 2]!('POST', `/api/detections/${id}/run`, window);
      }
    }
    await until(async () => (await countCompleted()) > 2, workers[0]!.output, workers[0]!.hasEnded, 100_000);
    await Promise.all([workers[0]!.kill('SIGKILL'), first.kill('SIGKILL')]);
    await start('work', dirs[2]!);
    const isDone = async (): Promise<boolean> => {
      for (const org of orgs) await repeatTimedOut(org.id, createCaller(second.url, org.key));
      return (await countCompleted()) === perOrg * orgs.length;
    };
    await until(isDone, workers[1]!.output, workers[1]!.hasEnded, 250_000);

    for (const org of orgs) {
      const call = createCaller(second.url, org.key);
      const { hits } = await call('GET', '/api/hits?limit=100');
      expect(hits.map(({ entity }: { entity: string }) => entity).toSorted()).toEqual(
        Array.from({ length: perOrg }, (_, rule) => `${org.id} ${rule}`).toSorted(),
      );
      expect((await call('GET', '/api/logs')).datasets).toMatchObject([{ name: 'auth', events: perOrg }]);
    }
    const [taken] = await selectIn(db)<{ n: number }>`select count(*)::int as n from runs where attempt > 1`;
    expect(taken!.n, 'no run was taken over, so no process was killed during a run').toBeGreaterThan(0);
  },
);

test.skipIf(!pooler)(
  'behind PgBouncer, doctor finds nothing wrong, and a start without the direct address is refused',
  async () => {
    const doctor = await runProgram(['doctor'], dirs[0]!, env);
    expect(doctor.stdout).toContain('pooler');
    expect(doctor, doctor.stdout).toMatchObject({ code: 0 });
    const { DATABASE_DIRECT_URL: _, ...without } = env as Record<string, string>;
    const refused = await runProgram(['org', 'list'], dirs[0]!, without);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('is a connection pooler. Set DATABASE_DIRECT_URL');
  },
);
