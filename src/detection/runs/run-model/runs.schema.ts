import { z } from 'zod';
import { verdictShape } from '../../verdicts/verdicts.schema.ts';
import { triggerSources } from '../../detections/record/detection.schema.ts';
import { AcceptanceGrade } from '../../verdicts/investigation/acceptance.ts';
import { runKinds } from '../../scheduling/run-claim.ts';
import { CostUsd, Instant } from '../../../platform/lib/schema-parts.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import { ActorField } from '../../../platform/orgs/orgs.schema.ts';

export const runStatuses = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;

const time = z.string().describe('ISO 8601, UTC, with milliseconds.');

/** Values of inputs by name. The agent's `inputs` say which there are. */
export const Inputs = z.record(z.string().max(255), z.union([z.string(), z.number(), z.boolean(), z.null()]));

export const RunRequest = z.strictObject({
  customInstructions: z
    .string()
    .max(10_000)
    .optional()
    .describe('Instructions for the judge of this run. The built-in analyst ignores them.'),
  from: Instant.optional().describe(
    'Start of the window, on event time. Requires `to`. Default: the last complete slot window.',
  ),
  to: Instant.optional(),
  inputs: Inputs.optional().describe('Values of the inputs that the detection declares. A date is ISO 8601 text.'),
});
export type RunRequest = z.infer<typeof RunRequest>;

export const ResponseRequest = z.strictObject({
  hitId: z
    .guid('must be a UUID')
    .toLowerCase()
    .optional()
    .describe('The hit to look into. It needs the scope `hits:read`.'),
  incidentId: z
    .guid('must be a UUID')
    .toLowerCase()
    .optional()
    .describe('The incident to look into as a whole, without `hitId`. What the run proves is its story.'),
  question: boundedString({ min: 1, max: 10_000 }).optional().describe('What the agent should find out.'),
  inputs: Inputs.optional().describe('Values of the inputs that the agent declares. A date is ISO 8601 text.'),
});
export type ResponseRequest = z.infer<typeof ResponseRequest>;

export const RunStarted = z.object({ runId: z.string() });
export type RunStarted = z.infer<typeof RunStarted>;

export const RunVerdict = z.object({
  ...verdictShape,
  candidateId: z.string().optional().describe('The candidate, as its steps state it. Absent for a response agent.'),
  unjudgedReason: z
    .string()
    .optional()
    .describe(
      'Why the verdict comes from the facts: the kind of the failure of the model. Absent if the judge gave it.',
    ),
  output: z
    .unknown()
    .optional()
    .describe('Output by the structured output schema of the detection. Not verified against the rows.'),
});

const Failure = z.object({
  kind: z.string(),
  blame: z.enum(['author', 'upstream', 'service', 'data']),
  retryable: z.boolean(),
  message: z.string(),
  dependsOnData: z
    .boolean()
    .optional()
    .describe('The failure depends on the events of the window. It does not count towards disabling the detection.'),
});

export const Suppressed = z
  .object({
    known: z.number().int(),
    exceptions: z.number().int(),
    snoozed: z.number().int(),
    allowed: z.number().int(),
    belowMinimum: z.number().int(),
    workingHours: z.number().int(),
  })
  .describe(
    'Candidates that were not judged, because of a recent verdict, an exception, a snooze or an allow-list, or because `tuning` leaves them out: below `minimumCount` or `minimumIncrease`, or by `workingHours`. The last two are not among the `candidates` of windows.',
  );
export type Suppressed = z.infer<typeof Suppressed>;

const RunEvent = z.object({
  source: z.enum(['manual', ...triggerSources]),
  triggerId: z.string().nullable(),
  hitId: z.string().nullable().describe('The hit that a response agent looks into.'),
  incidentId: z
    .string()
    .optional()
    .describe('The incident that started the run. Without `hitId`, the agent looks into all of its hits.'),
  inputs: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});
/** What started a run: a person (`manual`) or a trigger. */
export type RunEvent = z.infer<typeof RunEvent>;

export const Run = z
  .object({
    id: z.string(),
    detectionId: z.string(),
    trigger: z
      .enum(runKinds)
      .describe('For a response agent: `response` if a trigger started the run, `request` if a person did.'),
    status: z.enum(runStatuses),
    phase: z
      .enum(['examining', 'judging'])
      .nullable()
      .describe(
        'What a running run does: it examines its windows, or a model judges what it found. It also has the phase `judging` while it waits for the model. Null unless it is running.',
      ),
    statusReason: z.string().nullable().describe('Why a run was cancelled: superseded, requested, disabled, deleted.'),
    keyId: z.string().nullable().describe('The API key that requested the run. Null for scheduled runs.'),
    actor: ActorField,
    slotAt: time.nullable(),
    windowFrom: time.nullable(),
    windowTo: time.nullable(),
    clock: z.enum(['ingest', 'event']).describe('The time that the windows are on.'),
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
    lagMs: z.number().nullable().describe('Time from the slot or the request to the start.'),
    phases: z.array(z.object({ name: z.string(), ms: z.number() })),
    query: z.string().nullable(),
    rowsTotal: z.number().int(),
    truncated: z.boolean(),
    entities: z.array(RunVerdict).describe('Verdicts, at most 200.'),
    triggered: z.boolean().describe('Whether the run stored a hit or added an occurrence to one.'),
    hitCount: z.number().int(),
    score: z.number().nullable(),
    unscored: z
      .enum(['not_completed', 'no_rows', 'no_candidates', 'too_few_criteria'])
      .nullable()
      .describe(
        'Why there is no score. `no_rows` and `no_candidates`: there was nothing to judge. `too_few_criteria`: too few criteria apply, or the acceptance criteria are not graded yet. Null if there is a score.',
      ),
    scoreBasis: z.enum(['analyst', 'checked', 'judge']).nullable(),
    scoreCriteria: z.array(z.object({ name: z.string(), points: z.number(), max: z.number(), reason: z.string() })),
    acceptance: z
      .array(AcceptanceGrade)
      .describe(
        'The acceptance criteria of the detection with their grades. Empty without criteria, and until the run is graded.',
      ),
    revision: z.number().int().nullable(),
    promptVersion: z.number().int().nullable(),
    modelAlias: z.string().nullable(),
    model: z.string().nullable(),
    suppressed: Suppressed,
    calls: z.number().int().describe('Calls of models, with those that checked claims and graded criteria.'),
    tokens: z.number().int(),
    costUsd: CostUsd,
    warnings: z.array(z.object({ code: z.string(), detail: z.string() })),
    failure: Failure.nullable(),
    event: RunEvent.nullable().describe('What the run was started with. Null for a run of a detection without inputs.'),
    customInstructions: z
      .string()
      .nullable()
      .describe('Instructions or the question of the person who requested the run.'),
  })
  .meta({ id: 'Run' });
export type Run = z.infer<typeof Run>;

export const RunList = z.object({ runs: z.array(Run), nextCursor: z.string().nullable() });
export type RunList = z.infer<typeof RunList>;

export const BackfillRequest = z.strictObject({
  from: Instant,
  to: Instant.describe('End of the range. The backfill fills its open gaps in whole slot windows.'),
});
export type BackfillRequest = z.infer<typeof BackfillRequest>;

export const BackfillQuery = z.object({
  estimate: z.enum(['true', 'false']).optional().describe('`true`: only estimate the backfill.'),
});

const TimeRange = z.object({ from: time, to: time });

export const Backfill = z
  .object({
    runId: z.string().nullable().describe('Null for an estimate.'),
    gaps: z.array(TimeRange).describe('The gaps that the backfill fills.'),
    windows: z.number().int(),
    estimate: z
      .object({
        sampledWindows: z.number().int().describe('Windows that were queried for the estimate.'),
        rows: z.number().int(),
        candidates: z.number().int(),
        costUsd: z
          .number()
          .nullable()
          .describe('Cost of judging the candidates, by the average of the last 30 days. Null: a model had no price.'),
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
      .describe('`disabled`, `deleted`, `late`, `truncated`, `worker_lost`, or the kind of the failure of its run.'),
    state: z.enum(['open', 'filling', 'filled', 'expired']),
    detail: z.string().nullable(),
    createdAt: time,
  })
  .meta({ id: 'Gap' });

export const GapList = z.object({ gaps: z.array(Gap), nextCursor: z.string().nullable() });
export type GapList = z.infer<typeof GapList>;
