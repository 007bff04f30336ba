import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import type { Incident } from './incidents.schema.ts';
import { listIncidentsById, type IncidentRow } from './read-incidents.store.ts';

/** Emits `incident.created` for the first revision of each incident, otherwise `incident.updated`. */
export async function emitIncidentEvents(tx: Tx, orgId: OrgId, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await emitEvents(tx, [orgId], ['incident.created', 'incident.updated'], async () =>
    (await listIncidentsById(tx, orgId, ids)).map((row) => ({
      orgId,
      type: row.revision === 1 ? ('incident.created' as const) : ('incident.updated' as const),
      resourceId: row.id,
      revision: row.revision,
      data: { organizationId: orgId, ...toIncident(row) },
      severity: row.severity,
    })),
  );
}

/** Returns the incident of a row, with the path of the console as `url`. */
export const toIncident = (row: IncidentRow): Incident => ({
  ...row,
  url: `/console/incidents/${row.id}`,
  firstAt: row.firstAt.toISOString(),
  lastAt: row.lastAt.toISOString(),
  dueAt: row.dueAt.toISOString(),
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});
