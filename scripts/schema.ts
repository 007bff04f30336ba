import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres/embedded-postgres.ts';
import { migrate } from '../src/platform/db/migrate.ts';

export const schemaFile = resolve(import.meta.dirname, '../migrations/schema.sql');

const heading = `-- The schema of a new database, as PostgreSQL describes it: each table with its columns, constraints, indexes, policies, triggers and grants, in the
-- order in which the migrations create them, then the functions. For readers only. \`npm run schema\` writes it, and a test compares it with the
-- migrations. Left out: monthly partitions, and the rows that the migrations insert.
`;

/** Returns the text of schema.sql for a migrated database. */
export async function renderSchema(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const parts = [tablesSql, textSearchSql, functionsSql];
    const texts: string[] = [];
    for (const part of parts) texts.push(...(await client.query<{ text: string }>(part)).rows.map(({ text }) => text));
    return [heading, ...texts.map((text) => `${text}\n`)].join('\n');
  } finally {
    await client.end();
  }
}

/** Evaluates to the grants on an object to other roles than its owner, such as `grant select on items to tocsin_app;`. */
const grants = (acl: string, owner: string, name: string): string => `(
  select string_agg(format('grant %s on %s to %s;', privileges, ${name}, roles), e'\\n' order by roles collate "C")
  from (
    select privileges, string_agg(role, ', ' order by role collate "C") as roles
    from (
      select case when g.grantee = 0 then 'public' else g.grantee::regrole::text end as role,
        string_agg(lower(g.privilege_type), ', ' order by array_position('{SELECT,INSERT,UPDATE,DELETE}', g.privilege_type), g.privilege_type) as privileges
      from aclexplode(${acl}) g where g.grantee <> ${owner} group by 1) by_role
    group by 1) by_privileges)`;

/** Columns and constraints, one per line. The comment of a column is at the end of its line. */
const tableBody = `(
  select string_agg(
    '  ' || line || case when place < last then ',' else '' end || coalesce(' -- ' || comment, ''), e'\\n' order by place)
  from (
    select *, row_number() over (order by kind, rank, line) as place, count(*) over () as last
    from (
      select 1 as kind, a.attnum as rank, col_description(c.oid, a.attnum) as comment,
        quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
          || case when a.attcollation not in (0, (select typcollation from pg_type where oid = a.atttypid)) then ' collate ' || a.attcollation::regcollation else '' end
          || case when a.attnotnull then ' not null' else '' end
          || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') as line
      from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      union all
      select 2, array_position('{p,u,c,f}', k.contype::text), null,
        'constraint ' || quote_ident(k.conname) || ' ' || pg_get_constraintdef(k.oid, true)
      from pg_constraint k where k.conrelid = c.oid and k.contype in ('p', 'u', 'c', 'f')) parts) numbered)`;

const policies = `(
  select string_agg(
    format('create policy %I on %I%s to %s', p.policyname, c.relname,
      case when p.cmd = 'ALL' then '' else ' for ' || lower(p.cmd) end, array_to_string(p.roles, ', '))
      || coalesce(' using (' || p.qual || ')', '') || coalesce(' with check (' || p.with_check || ')', '') || ';',
    e'\\n' order by p.policyname)
  from pg_policies p where p.schemaname = 'public' and p.tablename = c.relname)`;

const tablesSql = `
  select concat_ws(e'\\n',
    '-- ' || obj_description(c.oid, 'pg_class'),
    format(e'create table %I (\\n%s\\n)%s%s;', c.relname, ${tableBody},
      ' partition by ' || pg_get_partkeydef(c.oid), ' with (' || array_to_string(c.reloptions, ', ') || ')'),
    (select string_agg(format('create table %s partition of %I %s;', i.inhrelid::regclass, c.relname, pg_get_expr(p.relpartbound, p.oid)), e'\\n')
      from pg_inherits i join pg_class p on p.oid = i.inhrelid
      where i.inhparent = c.oid and p.relkind = 'r' and p.relname !~ '_[0-9]{6}$'),
    (select string_agg(pg_get_indexdef(i.indexrelid, 0, true) || ';', e'\\n' order by i.indexrelid::regclass::text collate "C")
      from pg_index i where i.indrelid = c.oid
        and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))),
    case when c.relrowsecurity then format('alter table %I enable row level security;', c.relname) end,
    case when c.relforcerowsecurity then format('alter table %I force row level security;', c.relname) end,
    ${policies},
    (select string_agg(pg_get_triggerdef(t.oid, true) || ';', e'\\n' order by t.tgname)
      from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal),
    ${grants('c.relacl', 'c.relowner', 'quote_ident(c.relname)')}) as text
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  order by c.oid`;

const textSearchSql = `
  select concat_ws(e'\\n',
    (select string_agg(format('create text search dictionary %I (template = %s, %s);', d.dictname, t.tmplname, d.dictinitoption), e'\\n' order by 1)
      from pg_ts_dict d join pg_ts_template t on t.oid = d.dicttemplate where d.dictnamespace = 'public'::regnamespace),
    (select string_agg(text, e'\\n' order by config, place, text)
      from (
        select 0 as place, cfgname as config, format('create text search configuration %I (parser = %s);', cfgname, prsname) as text
        from pg_ts_config c join pg_ts_parser p on p.oid = c.cfgparser where c.cfgnamespace = 'public'::regnamespace
        union all
        select 1, c.cfgname, format('alter text search configuration %I add mapping for %s with %s;', c.cfgname,
          string_agg(k.alias, ', ' order by k.alias collate "C"), m.mapdict::regdictionary)
        from pg_ts_config c join pg_ts_config_map m on m.mapcfg = c.oid join ts_token_type(c.cfgparser) k on k.tokid = m.maptokentype
        where c.cfgnamespace = 'public'::regnamespace group by c.cfgname, m.mapdict) configurations)) as text`;

const functionsSql = `
  select concat_ws(e'\\n', '-- ' || obj_description(p.oid, 'pg_proc'), trim(e'\\n' from pg_get_functiondef(p.oid)) || ';',
    ${grants('p.proacl', 'p.proowner', "'function ' || p.oid::regprocedure")}) as text
  from pg_proc p where p.pronamespace = 'public'::regnamespace order by p.oid`;

if (import.meta.main) {
  const dataDir = mkdtempSync(join(tmpdir(), 'tocsin-schema-'));
  const server = await startEmbeddedPostgres({ dataDir, exclusive: false, log: () => undefined });
  try {
    await migrate(server.url);
    writeFileSync(schemaFile, await renderSchema(server.url));
    console.log('Wrote migrations/schema.sql.');
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  process.exit();
}
