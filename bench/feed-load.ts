import pg from 'pg';

/** How many copies are made of each public item, how many organizations there are, and how many items each has alone. */
export type Size = { copies: number; organizations: number; privateItems: number };

const publicPool = '00000000-0000-7000-8000-000000000001';
// What a copy changes of its item: id, the CVE in key and title, severity and publisher; every tenth is a duplicate of the one before it.
const publishers = ['Northmere', 'Alder Labs', 'Quayside CERT', 'Blue Fen', 'Harrow Research'];
const severities = ['none', 'low', 'medium', 'high', 'critical'];

/**
 * Copies the items that the program has read until there are as many as asked for, by statements over whole sets and with the indexes made
 * afterwards. Copies have terms and words as their originals, one of their own each, and stand in the counts.
 */
export async function multiplyFeed(databaseUrl: string, orgId: string, size: Size): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("set maintenance_work_mem = '512MB'; set work_mem = '128MB'; set synchronous_commit = off");
    const indexes = await dropIndexes(client);
    await addPublic(client, size);
    await addPrivate(client, orgId, size);
    await client.query(`
      truncate feed_counts;
      insert into feed_counts (pool_id, severity, status, publisher, source_name, platforms, n)
      select pool_id, severity, status, publisher, source_name, array_to_string(platforms, ','), count(*) from items group by 1, 2, 3, 4, 5, 6`);
    for (const definition of indexes) await client.query(definition);
    await client.query('vacuum analyze items; ');
    await client.query('vacuum analyze item_search');
    await client.query('vacuum analyze item_terms');
    await client.query('checkpoint');
    return Number((await client.query('select count(*) as n from items')).rows[0].n);
  } finally {
    await client.end();
  }
}

async function dropIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
    where i.indrelid in ('items'::regclass, 'item_search'::regclass, 'item_terms'::regclass) and not i.indisunique`);
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}

async function addPublic(client: pg.Client, { copies }: Size): Promise<void> {
  await client.query(`
    create temp table base as select row_number() over (order by id) as row, i.*, substr(canonical_key, 5) as cve,
      count(*) over () as all_rows from items i where pool_id = '${publicPool}'`);
  await client.query(`
    create temp table made as select b.id as base_id, b.cve, b.all_rows * (k - 1) + b.row as n, k,
      ('01800000-0000-7000-8000-' || lpad(to_hex(b.all_rows * (k - 1) + b.row), 12, '0'))::uuid as id,
      (array['${severities.join("','")}'])[1 + (b.row + k) % 5] as severity, (array['${publishers.join("','")}'])[1 + (b.row * 7 + k) % 5] as publisher,
      timestamptz '2025-01-01' + k * interval '1 minute' as at
    from base b, generate_series(1, ${copies - 1}) k`);
  await client.query(`
    insert into items (organization_id, id, pool_id, source_id, record_id, canonical_key, duplicate_of, content_hash, record_hash, severity,
      severity_rule, status, publisher, source_name, platforms, title, publish_time, doc, seq, added_to_feed_at, created_at, last_updated)
    select b.organization_id, m.id, b.pool_id, b.source_id, 'CVE-2030-' || m.n, 'cve:CVE-2030-' || m.n,
      case when m.n % 10 = 9 and m.n % b.all_rows > 1 then ('01800000-0000-7000-8000-' || lpad(to_hex(m.n - 1), 12, '0'))::uuid end,
      b.content_hash, b.record_hash, m.severity, b.severity_rule, b.status, m.publisher, b.source_name, (array['{windows}', '{linux,windows}', '{linux}', '{}'])[1 + m.k % 4]::text[], b.title,
      b.publish_time, replace(replace(regexp_replace(b.doc, '"severity":"[a-z]+"', '"severity":"' || m.severity || '"'), b.id::text, m.id::text), b.cve, 'CVE-2030-' || m.n),
      m.k, m.at, m.at, m.at
    from made m join base b on b.id = m.base_id`);
  await client.query(`
    insert into item_terms (organization_id, item_id, pool_id, kind, value)
    select t.organization_id, m.id, t.pool_id, t.kind, case when t.kind = 'cve' then 'CVE-2030-' || m.n else t.value end
    from made m join item_terms t on t.item_id = m.base_id
    union all select b.organization_id, m.id, b.pool_id, 'indicator', 'host-' || m.n || '.example' from made m join base b on b.id = m.base_id`);
  await client.query(`
    insert into item_search (organization_id, item_id, pool_id, words)
    select s.organization_id, m.id, s.pool_id, s.words || to_tsvector('simple', 'host-' || m.n || '.example')
    from made m join item_search s on s.item_id = m.base_id`);
  await client.query(`
    update feed_pools set seq = seq + ${copies}, last_added_at = now() where id = '${publicPool}'`);
  await client.query(
    `update items set seq = ${copies} where pool_id = '${publicPool}' and id in (select id from base)`,
  );
}

async function addPrivate(client: pg.Client, orgId: string, { organizations, privateItems }: Size): Promise<void> {
  await client.query(`
    insert into organizations (id, name) select gen_random_uuid(), 'neighbour ' || n from generate_series(2, ${organizations}) n`);
  await client.query(`
    insert into feed_pools (id, organization_id, kind, seq, last_added_at) select gen_random_uuid(), id, 'private', 1, now() from organizations
    where id = '${orgId}' or name like 'neighbour %'
    on conflict (organization_id) where kind = 'private' do update set seq = 1`);
  await client.query(`
    insert into items (organization_id, id, pool_id, record_id, canonical_key, content_hash, record_hash, severity, severity_rule, status,
      publisher, source_name, platforms, title, doc, seq, added_to_feed_at, created_at, last_updated)
    select p.organization_id, gen_random_uuid(), p.id, b.record_id || p.id, b.canonical_key, '', '', b.severity, b.severity_rule, b.status,
      'Own', 'Own', b.platforms, b.title, b.doc, 1, b.added_to_feed_at, b.created_at, b.last_updated
    from feed_pools p join base b on b.row <= ${privateItems} where p.kind = 'private'`);
}
