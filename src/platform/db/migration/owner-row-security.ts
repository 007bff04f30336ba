import pg from 'pg';

/**
 * Exempts the owner of the tables from row-level security, which `forceRowSecurity` restores. A migration that changes rows runs as the owner,
 * whom the policies do not mention, so that it would otherwise see no row unless the owner is a superuser. Each table is locked only briefly.
 */
export function liftRowSecurity(client: pg.Client): Promise<void> {
  return alterTables(client, 'c.relrowsecurity and c.relforcerowsecurity', 'no force');
}

/** Subjects the owner to row-level security in every table that has it, so that a statement without a role sees no row. */
export function forceRowSecurity(client: pg.Client): Promise<void> {
  return alterTables(client, 'c.relrowsecurity and not c.relforcerowsecurity', 'force');
}

async function alterTables(client: pg.Client, condition: string, action: 'force' | 'no force'): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and ${condition} order by 1`,
  );
  for (const { name } of rows)
    await client.query(`alter table ${pg.escapeIdentifier(name)} ${action} row level security`);
}
