import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { measureMs, type BenchmarkRow } from '../benchmark.ts';
import type { RunningProgram } from '../../test/support/program-environment.ts';

const overridesMax = 1_000;
const waitMaxMs = 30 * 60_000;

/** Adds overrides of 1,000 items for every organization: the severity of all, and the status of a fifth of them. */
export async function overrideItems(client: pg.Client): Promise<void> {
  await client.query(`
    insert into feed_pools (id, organization_id, kind) select gen_random_uuid(), id, 'private' from organizations
    on conflict (organization_id) where kind = 'private' do nothing`);
  await client.query(`
    insert into feed_overrides (organization_id, item_id, severity, status, updated_at)
    select o.id, i.id, 'critical', case when i.n % 5 = 0 then 'retracted' end, now() from organizations o cross join (
      select id, row_number() over (order by id) as n from items tablesample system (5)
      where pool_id = '00000000-0000-7000-8000-000000000001' limit ${overridesMax}) i
    on conflict do nothing`);
  await client.query(`update feed_pools set seq = seq + 1 where kind = 'private'`);
  await client.query('vacuum analyze feed_overrides');
}

/** Measures the time from a profile change until lists use the new profile. */
export async function measureProfileChange(running: RunningProgram, keywords: string[]): Promise<BenchmarkRow> {
  const products = [{ vendor: 'Microsoft', product: 'Windows' }];
  const ms = await measureMs(async () => {
    await running.call('PUT', '/api/feed/profile', { products, keywords, platforms: ['windows'] });
    const end = performance.now() + waitMaxMs;
    for (;;) {
      const { rebuilding } = await running.call('GET', '/api/feed/profile');
      if (!rebuilding) return;
      if (performance.now() > end) throw new Error('The relevance scores were not rebuilt within 30 minutes.');
      await sleep(500);
    }
  });
  return { label: 'profile change until all items are scored', unit: 's', tocsin: ms / 1_000 };
}
