import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Connection } from './connections.schema.ts';
import type { ConnectionWithPause } from './connections.store.ts';

/** Converts a row to the API's record, without the credentials. */
export function toConnection(row: ConnectionWithPause): Connection {
  const { pause_kind: kind, pause_message: message, pause_since: since } = row;
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    isDefault: false,
    settings: JSON.parse(row.settings) as Record<string, unknown>,
    clock: row.clock,
    delayMinutes: row.delay_minutes,
    recheckMinutes: row.recheck_minutes,
    places: row.places,
    pause: kind !== null && since ? { kind, message: message ?? '', since: since.toISOString() } : null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** Returns the record of the embedded log store. Its ID is the organization's ID. */
export function localStoreRecord(orgId: OrgId): Connection {
  return {
    id: orgId,
    kind: 'local',
    name: 'Embedded log store',
    isDefault: true,
    settings: {},
    clock: 'ingest',
    delayMinutes: 0,
    recheckMinutes: 0,
    places: 100,
    pause: null,
    createdAt: null,
    updatedAt: null,
  };
}
