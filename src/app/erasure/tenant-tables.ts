import type pg from 'pg';
import { listTables } from '../backup/tables.ts';
import type { TenantTable } from './erasures.store.ts';

/** Returns the tables with rows of organizations, as the database describes them, each after the tables that it references. */
export async function listTenantTables(client: pg.ClientBase): Promise<TenantTable[]> {
  return (await listTables(client)).flatMap(({ name, columns }): TenantTable[] => {
    const owner = (['organization_id', 'pool_id'] as const).find((column) => columns.includes(column));
    return owner ? [{ name, owner }] : [];
  });
}
