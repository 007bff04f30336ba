import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Connection } from './connections.schema.ts';
import type { ConnectionWithPause } from './connections.store.ts';

/** A connection as it may be seen: without its credentials. */
export function toConnection(one: ConnectionWithPause): Connection {
  const { pause_kind: kind, pause_message: message, pause_since: since } = one;
  return {
    id: one.id,
    kind: one.kind,
    name: one.name,
    isDefault: false,
    settings: JSON.parse(one.settings) as Record<string, unknown>,
    clock: one.clock,
    delayMinutes: one.delay_minutes,
    recheckMinutes: one.recheck_minutes,
    places: one.places,
    pause: kind !== null && since ? { kind, message: message ?? '', since: since.toISOString() } : null,
    createdAt: one.created_at.toISOString(),
    updatedAt: one.updated_at.toISOString(),
  };
}

/** The embedded log store, which every organization has; its id is the organization's. */
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
