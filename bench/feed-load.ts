import pg from 'pg';
import { makeCopies, setSeedsAside, settleFigures } from './feed-copies.ts';
import { timed } from './figure.ts';

/** How many copies are made of each public item, and how many numbers the entries of one copy take. */
export type Size = { copies: number; numbers: number };

const connections = 2;
const itemsPerStatement = 10_000;
const sayEvery = 100_000;

/**
 * Copies every item of the public pool that the program has read: each copy is what the program would have stored, one pull later, of the
 * same entry with another number (`feed-seeds.ts`). Only the hashes, which nothing but a further pull looks at, stay those of the original.
 * Answers how many items there are afterwards.
 */
export async function multiplyFeed(databaseUrl: string, size: Size, say: (text: string) => void): Promise<number> {
  // What a copy refers to is there by the way it is made; the checks of every row would take longer than the rows.
  const settings = ['session_replication_role=replica', 'synchronous_commit=off', 'maintenance_work_mem=512MB'];
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: connections,
    options: settings.map((setting) => `-c ${setting}`).join(' '),
  });
  const phase = async (name: string, work: () => Promise<void>): Promise<void> =>
    say(`${name}: ${Math.round((await timed(work)) / 1_000)} s`);
  try {
    const indexes = await dropIndexes(pool);
    await setAside(pool);
    await forEachTable(pool, (table) => `alter table ${table} set (autovacuum_enabled = false)`);
    await phase('rows', () => addCopies(pool, size, say));
    await pool.query(settleFigures(size.copies));
    await phase('indexes', () => inParallel(pool, indexes));
    await phase('vacuum', () => forEachTable(pool, (table) => `vacuum (analyze) ${table}`));
    await forEachTable(pool, (table) => `alter table ${table} reset (autovacuum_enabled)`);
    await phase('checkpoint', () => inParallel(pool, ['drop schema bench cascade', 'checkpoint']));
    return Number((await pool.query('select count(*) as n from items')).rows[0].n);
  } finally {
    await pool.end();
  }
}

const tables = ['items', 'item_versions', 'item_terms', 'item_search'];

const forEachTable = (pool: pg.Pool, statement: (table: string) => string): Promise<void> =>
  inParallel(pool, tables.map(statement));

async function inParallel(pool: pg.Pool, statements: string[]): Promise<void> {
  await Promise.all(statements.map((statement) => pool.query(statement)));
}

/** Makes away with the indexes that hold nothing together; answers what makes them again, the longest work first. */
async function dropIndexes(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string; definition: string }>(`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = any('{${tables}}'::regclass[]) and not i.indisunique order by c.relam desc, i.indrelid desc`);
  for (const { name } of rows) await pool.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}

async function setAside(pool: pg.Pool): Promise<void> {
  await pool.query(setSeedsAside);
  await inParallel(
    pool,
    ['items', 'versions', 'terms', 'words', 'seeds'].map((name) => `analyze bench.${name}`),
  );
}

async function addCopies(pool: pg.Pool, { copies, numbers }: Size, say: (text: string) => void): Promise<void> {
  const seeds = Number((await pool.query('select count(*) as n from bench.seeds')).rows[0].n);
  const step = Math.max(1, Math.floor(itemsPerStatement / seeds));
  const starts = Array.from({ length: Math.ceil((copies - 1) / step) }, (_, index) => 1 + index * step);
  const began = performance.now();
  let done = 0;
  await Promise.all(
    starts.map(async (from) => {
      const to = Math.min(from + step, copies) - 1;
      await pool.query(makeCopies(from, to, numbers));
      done += (to - from + 1) * seeds;
      if (done % sayEvery < itemsPerStatement)
        say(`  ${done.toLocaleString('en')} items after ${Math.round((performance.now() - began) / 1_000)} s`);
    }),
  );
}
