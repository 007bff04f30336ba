import { sql } from 'kysely';
import { queryRow, type Tx } from '../../platform/db/db.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import type { AgentRow } from './record/detection-row.ts';

type AgentConnection = Pick<AgentRow, 'organization_id' | 'connection_id' | 'siem_type'>;

/** Returns whether the connection that the agent queries exists. Throws 400 if `connection_id` is not a connection of the organization. */
export async function findConnected(tx: Tx, agent: AgentConnection): Promise<boolean> {
  const { organization_id: orgId, connection_id: connectionId, siem_type: siemType } = agent;
  const isLocalType = siemType === null || siemType.toLowerCase() === 'local';
  // The embedded log store has the id of the organization.
  if (connectionId === orgId || (connectionId === null && isLocalType)) return true;
  const found = await queryRow(tx)`select 1 from connections where organization_id = ${orgId}
      and id = tocsin_connection(${orgId}, ${connectionId}::uuid, ${siemType}::text)`;
  if (!found && connectionId !== null)
    throw fieldError('/connectionId', 'unknown_connection', `There is no connection ${connectionId}.`);
  return found !== undefined;
}

/** The condition of `findConnected` as a column of a query over `agents a`. */
export const connectedColumn = sql`(a.connection_id = a.organization_id or (a.connection_id is null and coalesce(lower(a.siem_type), 'local') = 'local')
  or exists (select from connections c where c.organization_id = a.organization_id
    and c.id = tocsin_connection(a.organization_id, a.connection_id, a.siem_type)))`;

export const changesConnection = (before: AgentConnection, after: AgentConnection): boolean =>
  before.connection_id !== after.connection_id || before.siem_type !== after.siem_type;
