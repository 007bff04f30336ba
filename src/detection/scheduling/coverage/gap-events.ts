import type { Tx } from '../../../platform/db/db.ts';
import { emitEvents } from '../../../platform/notifications/emit-events.ts';

/** A row of `gaps` after a change. */
export type GapEventRow = {
  organization_id: string;
  id: string;
  detection_id: string;
  gap_from: Date;
  gap_to: Date;
  reason: string;
  state: string;
  detail: string | null;
  created_at: Date;
  updated_at: Date;
};

/** Emits an event for each gap, of any number of organizations. An open gap that grows emits no further event. */
export async function emitGapEvents(tx: Tx, type: 'gap.opened' | 'gap.filled', gaps: GapEventRow[]): Promise<void> {
  if (gaps.length === 0) return;
  const orgIds = gaps.map((gap) => gap.organization_id);
  await emitEvents(tx, orgIds, [type], () =>
    gaps.map((gap) => ({
      orgId: gap.organization_id,
      type,
      resourceId: gap.id,
      revision: gap.updated_at.getTime(),
      data: {
        organizationId: gap.organization_id,
        id: gap.id,
        detectionId: gap.detection_id,
        from: gap.gap_from.toISOString(),
        to: gap.gap_to.toISOString(),
        reason: gap.reason,
        state: gap.state,
        detail: gap.detail,
        createdAt: gap.created_at.toISOString(),
      },
      detectionId: gap.detection_id,
    })),
  );
}
