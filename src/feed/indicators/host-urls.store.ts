import { isIPv6 } from 'node:net';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import { visiblePoolIds } from '../items/visible-pools.sql.ts';

const schemes = ['http', 'https', 'ftp', 'tcp', 'udp'];
const urlsMax = 1_000;

/**
 * Returns the documents of the newest `limit` visible items that contain URLs of a host, and the URLs. At most 1,000 URLs are examined. `host`
 * is a domain or an address in canonical form.
 */
export async function readHostUrls(tx: Tx, host: string, limit: number): Promise<{ docs: string[]; urls: string[] }> {
  const starts = schemes.map((scheme) => `${scheme}://${isIPv6(host) ? `[${host}]` : host}`);
  // A host ends before `/` or `:`, which are next to the digits in byte order.
  const rows = await queryRows<{ doc: string; urls: string[] }>(tx)`
      with found as materialized (
        select t.item_id, t.value from unnest(${starts}::text[]) as r (start) join item_terms t
          on t.kind = 'indicator' and t.value like '%://%' and t.value collate "C" >= r.start and t.value collate "C" < r.start || ';'
        where t.pool_id in ${visiblePoolIds} and substr(t.value, length(r.start) + 1, 1) in ('', '/', ':')
        limit ${urlsMax}
      )
      select i.doc, f.urls from (select item_id, array_agg(value) as urls from found group by item_id) f join items i on i.id = f.item_id
      where i.pool_id in ${visiblePoolIds} order by i.added_to_feed_at desc, i.id desc limit ${limit}`;
  return { docs: rows.map(({ doc }) => doc), urls: rows.flatMap(({ urls }) => urls) };
}
