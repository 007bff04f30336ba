import type { Tx } from '../../platform/db/db.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';

/** A row of `gaps` as a change left it. */
export type ChangedGap = {
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

/** Tells destinations of gaps, of any number of organizations. A gap that grows while it is open is told once. */
export async function emitGaps(tx: Tx, type: 'gap.opened' | 'gap.filled', gaps: ChangedGap[]): Promise<void> {
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
