import type { OrgId } from '../../../platform/lib/org-id.ts';
import { computeGeneration } from '../../analysis/analysis-definition.ts';
import type { Definition } from '../../detections/record/definition.ts';
import type { SiemConnection } from '../../siem/connector.ts';
import { emptyVerdictStats } from '../../verdicts/model/model-score.ts';
import { toAnalysisDefinition, type ActiveRun } from './active-run.ts';
import { noneSuppressed } from './run-progress.ts';

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
      modelAlias: null,
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
