import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import { describeDrift } from '../log-store/catalog/describe-drift.ts';
import type { ColumnDrift } from '../log-store/catalog/merge-catalog.ts';

/** Columns that one batch reports. An event that fills its columns with values of other types must not become hundreds of messages. */
const reportedMax = 20;

/**
 * Emits `dataset.drifted` for columns with values that do not fit them, at most once per column and UTC day, and notes the day in the
 * statistics of the column. The caller saves them.
 */
export async function reportDrift(
  tx: Tx,
  { orgId, dataset, at }: { orgId: OrgId; dataset: string; at: Date },
  drifts: ColumnDrift[],
): Promise<void> {
  const day = at.toISOString().slice(0, 10);
  const unreported = drifts.filter(({ stats }) => stats.reportedOn !== day).slice(0, reportedMax);
  for (const { stats } of unreported) stats.reportedOn = day;
  await emitEvents(tx, unreported.length > 0 ? [orgId] : [], ['dataset.drifted'], () =>
    unreported.map((drift) => ({
      orgId,
      type: 'dataset.drifted',
      resourceId: dataset,
      revision: at.getTime(),
      data: { organizationId: orgId, dataset, ...describeDrift(dataset, drift), at: at.toISOString() },
    })),
  );
}
