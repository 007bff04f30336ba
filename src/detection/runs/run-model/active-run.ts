import type { Spend } from '../../../platform/models/budgets.ts';
import { slotIntervalMs } from '../../../platform/lib/time/cron.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { AnalysisDefinition } from '../../analysis/analysis-definition.ts';
import { computeGeneration } from '../../analysis/category-tuning.ts';
import type { MemoryScope } from '../../analysis/memory/memory.ts';
import type { Definition } from '../../detections/record/detection-record.ts';
import type { RunClaim, RunKind } from '../../scheduling/run-claim.ts';
import type { SiemConnection } from '../../siem/connector.ts';
import type { RunEvent } from './runs.schema.ts';
import { type RunProgress, noneSuppressed } from './run-progress.ts';
import { emptyVerdictStats } from '../../verdicts/investigation/score.ts';

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
  /** What the run was started with. Null for a run of a detection without inputs. */
  event: RunEvent | null;
  /** The detection whose hit a response agent investigates, as it was when it found the hit. */
  hitDetection?: Definition;
  /** Proposes a call to a person. Null for a run of a detection, which only judges. Returns what the model is told. */
  propose: ((tool: string, input: unknown, reason: string) => Promise<string>) | null;
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
    ...(definition.continuous === true ? { continuous: true } : {}),
  };
}

type TrialRunOptions = { connection: SiemConnection; clock: ActiveRun['clock']; model: string; at: Date };

/** Creates a run that is not in the database, to try out a definition. Nothing of it may be stored. `at` is slot time. */
export function createTrialRun(
  detection: { orgId: OrgId; detectionId: string; definition: Definition },
  { connection, clock, model, at }: TrialRunOptions,
): ActiveRun {
  const { orgId, detectionId, definition } = detection;
  const analysis = toAnalysisDefinition(definition, connection);
  return {
    claim: {
      orgId,
      detectionId,
      runId: detectionId,
      kind: 'trial',
      dueAt: at,
      attempt: 0,
      retries: 0,
      worker: '',
      phase: 'examine',
      failure: null,
      resumed: false,
    },
    orgId,
    detectionId,
    definition,
    id: detectionId,
    trigger: 'backfill',
    slotAt: null,
    startedAt: at,
    windowFrom: null,
    windowTo: null,
    clock,
    coverageFrom: null,
    groupsEvents: false,
    connection,
    analysis,
    scope: { orgId, detectionId, generation: computeGeneration(analysis) },
    model,
    customInstructions: null,
    event: null,
    propose: null,
    spent: { tokens: 0, costUsd: 0 },
    elapsedMs: 0,
    progress: {
      windows: [],
      entities: [],
      warnings: [],
      phases: [],
      suppressed: { ...noneSuppressed },
      judging: { ...emptyVerdictStats },
    },
  };
}
