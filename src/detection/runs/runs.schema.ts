import { z } from 'zod';
import { severities } from '../analysis/candidate.ts';
import { runTriggers } from './run-types.ts';
import { Instant } from '../../platform/lib/instant.ts';

export const runStatuses = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;

const time = z.string().describe('ISO 8601, UTC, with milliseconds.');

export const RunRequest = z.strictObject({
  customInstructions: z
    .string()
    .max(10_000)
    .optional()
    .describe('For the judge of this run; the built-in analyst reads none.'),
  from: Instant.optional().describe('With `to`: a window on event time. Without: the last full slot window.'),
  to: Instant.optional(),
});
export type RunRequest = z.infer<typeof RunRequest>;

export const RunStarted = z.object({ runId: z.string() });
export type RunStarted = z.infer<typeof RunStarted>;

export const RunVerdict = z.object({
  entity: z.string(),
  entityType: z.string(),
  triggered: z.boolean(),
  confidence: z.number().describe('0-100.'),
  severity: z.enum(severities),
  headline: z.string(),
  summary: z.string(),
  evidence: z.array(z.object({ rowId: z.string(), field: z.string(), value: z.string(), why: z.string() })),
  nextStep: z.string(),
  output: z.unknown().optional().describe("What the detection's own schema asks for; not held against the rows."),
});

const Failure = z.object({
  kind: z.string(),
  blame: z.enum(['author', 'upstream', 'us']),
  retryable: z.boolean(),
  message: z.string(),
});

export const Run = z
  .object({
    id: z.string(),
    detectionId: z.string(),
    trigger: z.enum(runTriggers),
    status: z.enum(runStatuses),
    statusReason: z.string().nullable().describe('Why a run was cancelled: superseded, requested, disabled, deleted.'),
    slotAt: time.nullable(),
    windowFrom: time.nullable(),
    windowTo: time.nullable(),
    clock: z.enum(['ingest', 'event']).describe('What the bounds of its windows are on.'),
    windows: z.array(
      z.object({
        from: time,
        to: time,
        rowsTotal: z.number().int(),
        truncated: z.boolean(),
        candidates: z.number().int(),
      }),
    ),
    attempt: z.number().int(),
    startedAt: time.nullable(),
    finishedAt: time.nullable(),
    lagMs: z.number().nullable().describe('From its slot (or request) to its start.'),
    phases: z.array(z.object({ name: z.string(), ms: z.number() })),
    query: z.string().nullable(),
    rowsTotal: z.number().int(),
    truncated: z.boolean(),
    entities: z.array(RunVerdict).describe('Verdicts, 200 at most.'),
    triggered: z.boolean().describe('It stored a hit or added an occurrence to one.'),
    hitCount: z.number().int(),
    score: z.number().nullable(),
    scoreBasis: z.enum(['analyst', 'checked', 'judge']).nullable(),
    scoreCriteria: z.array(z.object({ name: z.string(), points: z.number(), max: z.number(), reason: z.string() })),
    revision: z.number().int().nullable(),
    promptVersion: z.number().int().nullable(),
    modelAlias: z.string().nullable(),
    model: z.string().nullable(),
    suppressed: z
      .object({ known: z.number().int(), exceptions: z.number().int(), snoozed: z.number().int() })
      .describe('Candidates that nobody was asked about, by why: judged a short while ago, an exception, a snooze.'),
    tokens: z.number().int(),
    costUsd: z.number(),
    warnings: z.array(z.object({ code: z.string(), detail: z.string() })),
    failure: Failure.nullable(),
  })
  .meta({ id: 'Run' });
export type Run = z.infer<typeof Run>;

export const RunList = z.object({ runs: z.array(Run), nextCursor: z.string().nullable() });
export type RunList = z.infer<typeof RunList>;

export const BackfillRequest = z.strictObject({
  from: Instant,
  to: Instant.describe('Open gaps within are filled, in whole slot windows.'),
});
export type BackfillRequest = z.infer<typeof BackfillRequest>;

export const BackfillQuery = z.object({
  estimate: z.enum(['true', 'false']).optional().describe('true: only say what it would take.'),
});

const Stretch = z.object({ from: time, to: time });

export const Backfill = z
  .object({
    runId: z.string().nullable().describe('Null where only an estimate was asked for.'),
    gaps: z.array(Stretch).describe('What is filled.'),
    windows: z.number().int(),
    estimate: z
      .object({
        sampledWindows: z.number().int().describe('Windows whose query was run for it.'),
        rows: z.number().int(),
        candidates: z.number().int(),
        costUsd: z.number().describe('Of judging them, by what the last 30 days cost.'),
      })
      .nullable(),
  })
  .meta({ id: 'Backfill' });
export type Backfill = z.infer<typeof Backfill>;

export const Gap = z
  .object({
    id: z.string(),
    from: time,
    to: time,
    reason: z
      .string()
      .describe(
        'disabled, deleted, late, truncated, worker_lost, or the kind of the failure that kept the time from being examined.',
      ),
    state: z.enum(['open', 'filling', 'filled', 'expired']),
    detail: z.string().nullable(),
    createdAt: time,
  })
  .meta({ id: 'Gap' });

export const GapList = z.object({ gaps: z.array(Gap), nextCursor: z.string().nullable() });
export type GapList = z.infer<typeof GapList>;
