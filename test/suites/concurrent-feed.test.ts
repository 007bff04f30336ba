import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sql } from 'kysely';
import { acrossOrgs, queryRow } from '../../src/platform/db/db.ts';
import { processArrivals } from '../../src/feed/deduplication/recompute-pools.ts';
import { scoreNextBatch } from '../../src/feed/relevance/score-items.ts';
import { createRandom } from '../../src/demo/company/random.ts';
import { startApp, type TestOrg } from '../support/harness.ts';
import { hasRepeatedTerm, listDanglingReferences } from '../support/feed/dangling-references.ts';
import { domains, listVisibleItems, pullOnce, stixReport } from '../support/feed/grouped-reports.ts';

const app = await startApp();
const requests = 200;

/** Runs scoring, deduplication and recurring pulls until `stop`. Rejects with the first error. */
function runLoops(steps: (() => Promise<unknown>)[]): { stop: () => Promise<void> } {
  const stopped = new AbortController();
  const lanes = steps.map(async (step) => {
    while (!stopped.signal.aborted) if (!(await step())) await sleep(2);
  });
  return {
    stop: async () => {
      stopped.abort();
      await Promise.all(lanes);
    },
  };
}

const report = (number: number, day: number): object =>
  stixReport(number, domains((number % 4) * 10, 6), {
    modified: `2024-03-${String(day).padStart(2, '0')}T00:00:00.000Z`,
  });

async function createFeed(org: TestOrg, count: number) {
  const shared = { kind: 'stix', visibility: 'shared', tlp: 'CLEAR' } as const;
  const own = { kind: 'stix' } as const;
  const sources = [];
  for (let number = 1; number <= count; number += 1)
    sources.push(await pullOnce(app, org, { ...(number % 2 === 0 ? shared : own), content: report(number, 1) }));
  return sources;
}

test('answers concurrent changes of the feed without errors and leaves consistent totals', async () => {
  const orgs = [await app.newOrg(), await app.newOrg(), await app.newOrg()];
  const sources = await createFeed(orgs[0]!, 8);
  const items = await listVisibleItems(app, orgs[0]!);
  const publicIds = (await listVisibleItems(app, orgs[1]!)).map(({ id }) => id);
  const random = createRandom('concurrent changes');
  let day = 2;
  const loops = runLoops([
    () => scoreNextBatch(app.deps),
    () => scoreNextBatch(app.deps),
    () => processArrivals(app.deps),
    () => processArrivals(app.deps),
    async () => {
      day = (day % 28) + 1;
      const number = random.int(1, sources.length);
      return sources[number - 1]!.pull(report(number, day));
    },
  ]);
  const send = async (): Promise<number> => {
    const org = random.pick(orgs);
    const ids = org === orgs[0] ? items.map(({ id }) => id) : publicIds;
    const at = (action: string): string => `/api/feed/items/${random.pick(ids)}/${action}`;
    const text = `${random.int(1, 20)} hosts connect to c${random.int(1, 9)}.evil-host.top and drop the file.`;
    const threshold = random.int(1, 9) / 10;
    const [method, url, body] = random.pick([
      ['PUT', '/api/feed/profile', { keywords: ['host', `word${random.int(1, 9)}`], threshold }],
      ['POST', '/api/feed/items', { text }],
      ['POST', at('retract'), { reason: 'wrong' }],
      ['DELETE', at('retract'), undefined],
      ['POST', at('merge'), { into: random.pick(ids) }],
      ['POST', at('split'), undefined],
      ['PUT', at('override'), { severity: random.pick(['low', 'high']), status: random.pick([null, 'retracted']) }],
      ['GET', '/items?relevancyMode=relevant', undefined],
    ] as const);
    return (await org.call(method, url, body)).status;
  };
  const statuses: number[] = [];
  for (let sent = 0; sent < requests; sent += 40)
    statuses.push(...(await Promise.all(Array.from({ length: 40 }, send))));
  await loops.stop();
  expect(statuses.filter((status) => status >= 500)).toEqual([]);
  expect(statuses.filter((status) => status < 300).length).toBeGreaterThan(requests / 3);
  const counted = await acrossOrgs(app.deps.db, (tx) =>
    queryRow<{ rows: number; wrong: number }>(
      tx,
      sql`
      with kept as (select pool_id, severity, status, publisher, source_name, platforms, n, roots from feed_counts),
      real as (
        select pool_id, severity, status, publisher, source_name,
          (select coalesce(string_agg(p, ',' order by p), '') from unnest(platforms) p) as platforms, count(*)::int as n,
          (count(*) filter (where duplicate_of is null))::int as roots
        from items group by 1, 2, 3, 4, 5, 6)
      select (select count(*) from real) as rows,
        (select count(*) from ((table kept except table real) union all (table real except table kept)) d) as wrong`,
    ),
  );
  expect(counted!.rows).toBeGreaterThan(0);
  expect(counted!.wrong).toBe(0);
  expect(await listDanglingReferences(app.deps.db)).toEqual([]);
  expect(await hasRepeatedTerm(app.deps.db)).toBe(false);
});
