import { noneSuppressed, type SuppressedCounts } from './execution/run-progress.ts';
import type { RunRow } from './read-runs.store.ts';
import type { Run } from './runs.schema.ts';

const toIso = (time: Date | null): string | null => time?.toISOString() ?? null;

/** Converts a row of `runs` to the run of the API. */
export function toRunRecord(row: RunRow): Run {
  const windows = JSON.parse(row.windows) as Run['windows'];
  return {
    id: row.id,
    detectionId: row.detection_id,
    trigger: row.trigger,
    status: row.status,
    statusReason: row.status_reason,
    slotAt: toIso(row.slot_at),
    windowFrom: toIso(row.window_from),
    windowTo: toIso(row.window_to),
    clock: row.on_event_time ? 'event' : 'ingest',
    windows: windows.map(({ from, to, rowsTotal, truncated, candidates }) => ({
      from,
      to,
      rowsTotal,
      truncated,
      candidates,
    })),
    attempt: row.attempt,
    startedAt: toIso(row.started_at),
    finishedAt: toIso(row.finished_at),
    lagMs: row.lag_ms,
    phases: JSON.parse(row.phases) as Run['phases'],
    query: row.query,
    rowsTotal: row.rows_total,
    truncated: row.truncated,
    entities: JSON.parse(row.entities) as Run['entities'],
    triggered: row.triggered,
    hitCount: row.hit_count,
    score: row.score,
    scoreBasis: row.score_basis,
    scoreCriteria: JSON.parse(row.score_criteria) as Run['scoreCriteria'],
    revision: row.revision,
    promptVersion: row.prompt_version,
    modelAlias: row.model_alias,
    model: row.model,
    suppressed: { ...noneSuppressed, ...(JSON.parse(row.suppressed) as Partial<SuppressedCounts>) },
    tokens: row.tokens,
    costUsd: row.cost_usd,
    warnings: JSON.parse(row.warnings) as Run['warnings'],
    failure: row.failure === null ? null : (JSON.parse(row.failure) as Run['failure']),
  };
}
