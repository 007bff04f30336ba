import type { Spend } from '../../../platform/models/spending/budgets.ts';
import { slotIntervalMs } from '../../../platform/lib/time/cron.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { AnalysisDefinition } from '../../analysis/analysis-definition.ts';
import type { MemoryScope } from '../../analysis/memory/memory.ts';
import type { Definition } from '../../detections/record/definition.ts';
import type { RunClaim, RunKind } from '../../scheduling/queue/run-claim.ts';
import type { SiemConnection } from '../../siem/connector.ts';
import type { RunProgress } from './run-progress.ts';

/** A run that this worker executes, with the definition that its first claim pinned. */
export type ActiveRun = {
  claim: RunClaim;
  orgId: OrgId;
  id: string;
  detectionId: string;
  trigger: RunKind;
  slotAt: Date | null;
  startedAt: Date;
  windowFrom: Date | null;
  windowTo: Date | null;
  clock: 'ingest' | 'event';
  /** Start of the detection's coverage. Null without a schedule, and in a trial. */
  coverageFrom: Date | null;
  /** Whether the query groups events. False if no window of the run depends on it. */
  groupsEvents: boolean;
  connection: SiemConnection;
  definition: Definition;
  analysis: AnalysisDefinition;
  scope: MemoryScope;
  model: string;
  /** Instructions for the judge from the request of the run. */
  customInstructions: string | null;
  /** Spend on its model over all attempts. */
  spent: Spend;
  /** Time until the latest step, over all attempts. */
  elapsedMs: number;
  progress: RunProgress;
};

/** Returns the part of a definition that the analysis uses. */
export function toAnalysisDefinition(
  definition: Definition,
  connection: Pick<SiemConnection, 'id'>,
): AnalysisDefinition {
  const cadence = definition.cronSchedule;
  return {
    category: definition.detectionCategory,
    query: definition.detectionQuery,
    entityField: definition.entityField,
    timeField: definition.timeField,
    connectionId: connection.id ?? null,
    cadence,
    slotMs: cadence === null ? 0 : slotIntervalMs(cadence),
    ...(definition.tuning === undefined ? {} : { tuning: definition.tuning }),
  };
}
