import pg from 'pg';

/** Makes the clock of leases and back-off run this many times faster in this database, so a lease of a minute ends soon. */
export async function speedUpLeases(url: string, times: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create schema fast');
  await client.query('grant usage on schema fast to public');
  await client.query(`create function fast.clock_timestamp() returns timestamptz language sql volatile as
    $$ select '${new Date().toISOString()}'::timestamptz + ${times} * (pg_catalog.clock_timestamp() - '${new Date().toISOString()}'::timestamptz) $$`);
  await client.query(`alter database "${new URL(url).pathname.slice(1)}" set search_path = fast, pg_catalog, public`);
  await client.end();
}
