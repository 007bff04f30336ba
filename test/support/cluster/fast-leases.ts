import { runStatements } from '../run-statements.ts';

/** Makes the clock of leases and back-off run this many times faster in this database, so a lease of a minute ends soon. */
export async function speedUpLeases(url: string, times: number): Promise<void> {
  const start = new Date().toISOString();
  await runStatements(
    url,
    // In the schema of the tables, which stays the first one: a program that starts looks for its migrations there.
    `create function public.clock_timestamp() returns timestamptz language sql volatile as
      $$ select '${start}'::timestamptz + ${times} * (pg_catalog.clock_timestamp() - '${start}'::timestamptz) $$`,
    `alter database "${new URL(url).pathname.slice(1)}" set search_path = public, pg_catalog`,
  );
}
