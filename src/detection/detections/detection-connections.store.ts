import { sql } from 'kysely';
import { row, type Tx } from '../../platform/db/db.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import type { Agent } from './record/detection-row.ts';

type Asking = Pick<Agent, 'organization_id' | 'connection_id' | 'siem_type'>;

/** Whether there is a connection that the detection asks. 400 for a connection that it names and the organization does not have. */
export async function findConnected(tx: Tx, agent: Asking): Promise<boolean> {
  const { organization_id: orgId, connection_id: named, siem_type: siemType } = agent;
  if (named === orgId || (named === null && (siemType === null || siemType.toLowerCase() === 'local'))) return true;
  const found = await row(
    tx,
    sql`select 1 from connections where organization_id = ${orgId}
      and id = tocsin_connection(${orgId}, ${named}::uuid, ${siemType}::text)`,
  );
  if (!found && named !== null)
    throw fieldError('/connectionId', 'unknown_connection', `There is no connection ${named}.`);
  return found !== undefined;
}

/** The same as a column of a list. */
export const connectedColumn = sql`(a.connection_id = a.organization_id or (a.connection_id is null and coalesce(lower(a.siem_type), 'local') = 'local')
  or exists (select from connections c where c.organization_id = a.organization_id
    and c.id = tocsin_connection(a.organization_id, a.connection_id, a.siem_type)))`;

export const asksAnother = (before: Asking, after: Asking): boolean =>
  before.connection_id !== after.connection_id || before.siem_type !== after.siem_type;
