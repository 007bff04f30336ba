import { noJudging } from '../../verdicts/model/model-score.ts';
import { generationOf, type AnalysisDefinition } from '../../analysis/analysis-definition.ts';
import type { Definition } from '../../detections/record/definition.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { SiemConnection } from '../../siem/connector.ts';
import { slotDistanceMs } from '../../../platform/lib/cron/cron-intervals.ts';
import { noneSuppressed, type Run } from '../run-types.ts';

/** What the analysis needs of a definition. */
export function analysisOf(definition: Definition, connection: Pick<SiemConnection, 'id'>): AnalysisDefinition {
  const cadence = definition.cronSchedule;
  return {
    category: definition.detectionCategory,
    query: definition.detectionQuery,
    entityField: definition.entityField,
    timeField: definition.timeField,
    connectionId: connection.id ?? null,
    cadence,
    slotMs: cadence === null ? 0 : slotDistanceMs(cadence),
  };
}

/** A run that no table holds, for what is only tried out: nothing of it may be stored. `at` is slot time. */
export function rehearsedRun(
  of: { orgId: OrgId; detectionId: string; definition: Definition },
  by: { connection: SiemConnection; clock: Run['clock']; model: string; at: Date },
): Run {
  const analysis = analysisOf(of.definition, by.connection);
  const claim = {
    ...of,
    runId: of.detectionId,
    kind: 'rehearsal',
    dueAt: by.at,
    attempt: 0,
    retries: 0,
    worker: '',
    modelAlias: null,
  };
  return {
    claim: { ...claim, resumed: false },
    ...of,
    id: of.detectionId,
    trigger: 'backfill',
    slotAt: null,
    startedAt: by.at,
    windowFrom: null,
    windowTo: null,
    clock: by.clock,
    connection: by.connection,
    analysis,
    scope: { orgId: of.orgId, detectionId: of.detectionId, generation: generationOf(analysis) },
    model: by.model,
    customInstructions: null,
    spent: { tokens: 0, costUsd: 0 },
    elapsedMs: 0,
    progress: {
      windows: [],
      entities: [],
      warnings: [],
      phases: [],
      suppressed: { ...noneSuppressed },
      judging: { ...noJudging },
    },
  };
}
