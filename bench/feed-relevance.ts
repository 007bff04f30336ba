import type pg from 'pg';
import { timed, type Line } from './figure.ts';
import type { Running } from './place.ts';

const overridesMax = 1_000;
const waitMaxMs = 30 * 60_000;

/** Lets every organization say something of a thousand items: severity of all, status of a fifth. */
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

/** From the change of a profile until the lists answer under it. */
export async function changeProfile(running: Running, keywords: string[]): Promise<Line> {
  const products = [{ vendor: 'Microsoft', product: 'Windows' }];
  const ms = await timed(async () => {
    await running.call('PUT', '/api/feed/profile', { products, keywords, platforms: ['windows'] });
    const end = performance.now() + waitMaxMs;
    for (;;) {
      const { rebuilding } = (await running.call('GET', '/api/feed/profile')) as { rebuilding: boolean };
      if (!rebuilding) return;
      if (performance.now() > end) throw new Error('The profile was not built in half an hour.');
      await new Promise((passed) => {
        setTimeout(passed, 500);
      });
    }
  });
  return { what: 'a profile change, until all items are scored', unit: 's', ours: ms / 1_000 };
}
