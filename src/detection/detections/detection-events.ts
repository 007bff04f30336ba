import type { Tx } from '../../platform/db/db.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import { isEventType } from '../../platform/notifications/event-types.ts';
import type { Detection } from './record/detection.schema.ts';

/** Emits the event of a change to a detection or suggestion. Does nothing for actions without an event type, such as those of built-in agents. */
export async function emitDetection(tx: Tx, action: string, record: Detection): Promise<void> {
  if (!isEventType(action)) return;
  const { organizationId: orgId, id, updatedAt } = record;
  // `updatedAt` moves strictly forward with every change, but the record's revision changes only with its definition.
  const revision = new Date(updatedAt).getTime();
  await emitEvents(tx, [orgId], [action], () => [
    { orgId, type: action, resourceId: id, revision, data: record, detectionId: id },
  ]);
}
