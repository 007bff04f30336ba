import type { Tx } from '../../platform/db/db.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import { isEventType } from '../../platform/notifications/event-types.ts';
import type { Detection } from './record/detection.schema.ts';

/** Tells destinations of a change of a detection or suggestion. Actions that are no type of event (those of built-in agents) say nothing. */
export async function emitDetection(tx: Tx, action: string, record: Detection): Promise<void> {
  if (!isEventType(action)) return;
  const { organizationId: orgId, id, updatedAt } = record;
  // `updatedAt` moves strictly forward with every change; the record's own revision only with its definition.
  const revision = new Date(updatedAt).getTime();
  await emitEvents(tx, [orgId], [action], () => [
    { orgId, type: action, resourceId: id, revision, data: record, detectionId: id },
  ]);
}
