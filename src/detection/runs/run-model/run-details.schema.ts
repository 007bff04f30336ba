import { z } from 'zod';
import { CostUsd, integerMax, Instant } from '../../../platform/lib/schema-parts.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import { ObservationRecord } from '../../verdicts/verdicts.schema.ts';
import { RunVerdict } from './runs.schema.ts';

const tokens = z.object({
  input: z.number(),
  output: z.number(),
  cached: z.number().optional().describe("Input tokens from the provider's prompt cache."),
  cacheWritten: z.number().optional().describe('Input tokens that were stored in that cache.'),
  isEstimate: z.boolean().optional().describe('The provider reports no tokens, so that they are estimated.'),
});

export const RunStep = z.object({
  attempt: z.number().int(),
  n: z.number().int().describe('Number within the attempt.'),
  kind: z.enum(['plan', 'call', 'tool']),
  entity: z.string().describe('Entity that was judged. In a run of a built-in agent, the feed item.'),
  candidateId: z
    .string()
    .optional()
    .describe(
      'The candidate that was judged. Absent for a response agent, and for the grading of acceptance criteria.',
    ),
  at: z.string(),
  ms: z.number(),
  alias: z.string().optional().describe('The alias that answered: that of the detection, or one of its fallbacks.'),
  model: z.string(),
  tokens,
  costUsd: CostUsd,
  sent: z.unknown().optional().describe('Messages that were added since the previous step.'),
  text: z.string().optional(),
  toolCalls: z.unknown().optional(),
  tool: z
    .object({ name: z.string(), input: z.unknown(), output: z.string(), simulated: z.boolean(), failed: z.boolean() })
    .optional(),
  observation: ObservationRecord.optional().describe('What the call of a tool found. Absent if it returned nothing.'),
  error: z.string().optional(),
});
export type RunStep = z.infer<typeof RunStep>;

export const StepList = z.object({ steps: z.array(RunStep), nextCursor: z.string().nullable() });
export type StepList = z.infer<typeof StepList>;

export const Agreement = z.object({
  reviewed: z.number().int().describe('Hits that a model raised and that people judged.'),
  agreed: z.number().int().describe('Those that people judged as true positives.'),
  agreement: z.number().nullable().describe('Percent. Null without reviewed hits.'),
});
export type Agreement = z.infer<typeof Agreement>;

export const ReplayRequest = z.strictObject({
  promptVersion: z.int().min(1).max(integerMax).optional().describe('Default: the one of the run.'),
  modelAlias: boundedString({ max: 64 }).optional().describe('Default: the one of the run.'),
  limit: z.int().min(1).max(20).default(10).describe('Maximum number of candidates to judge again.'),
});
export type ReplayRequest = z.infer<typeof ReplayRequest>;

const VerdictComparison = z.object({
  candidateId: z.string(),
  entity: z.string(),
  before: RunVerdict.nullable().describe('Null if the candidate was suppressed or is still pending.'),
  after: RunVerdict.nullable().describe('New verdict.'),
  failure: z.object({ kind: z.string(), message: z.string() }).nullable(),
  differs: z
    .array(z.string())
    .describe('Fields that differ: `triggered`, `verdict`, `severity`, `confidence` (by 10 or more), `evidence`.'),
});
export type VerdictComparison = z.infer<typeof VerdictComparison>;

export const ShadowInput = z.strictObject({
  promptVersion: z.int().min(1).max(integerMax).optional(),
  modelAlias: boundedString({ max: 64 }).optional(),
});
export type ShadowInput = z.infer<typeof ShadowInput>;

export const Shadow = z.object({
  shadow: z
    .object({ promptVersion: z.number().int().nullable(), modelAlias: z.string().nullable(), since: z.string() })
    .nullable()
    .describe('Null without a shadow. A null field is the same as in the detection.'),
  compared: z.number().int(),
  differing: z.number().int(),
  differences: z
    .array(VerdictComparison.extend({ runId: z.string(), at: z.string() }))
    .describe('The latest 50 comparisons that differ.'),
});
export type Shadow = z.infer<typeof Shadow>;

export const Replay = z.object({
  runId: z.string(),
  promptVersion: z.number().int(),
  modelAlias: z.string(),
  model: z.string(),
  tokens: z.number(),
  costUsd: CostUsd,
  candidates: z.number().int().describe('Candidates of the run. At most `limit` of them are judged again.'),
  compared: z.array(VerdictComparison),
});
export type Replay = z.infer<typeof Replay>;

const time = z.string().meta({ format: 'date-time' });

export const WindowsQuery = z.object({
  from: Instant.optional().describe('Default: 30 days before `to`.'),
  to: Instant.optional().describe('Default: now. The range must be at most 366 days.'),
});
export type WindowsQuery = z.infer<typeof WindowsQuery>;

const windowStates = ['covered', 'pending', 'gap', 'filling', 'expired'] as const;

export const WindowList = z.object({
  from: time,
  to: time,
  coverageFrom: time.nullable().describe('Start of the first window. Null if the detection never had a schedule.'),
  plannedTo: time.nullable().describe('End of the last planned window.'),
  nextRunAt: time.nullable(),
  windows: z
    .array(
      z.object({
        from: time,
        to: time,
        state: z
          .enum(windowStates)
          .describe(
            '`covered`: examined. `pending`: planned but not yet examined. `gap`: not examined. `filling`: a backfill is examining it. `expired`: a gap whose logs are no longer retained.',
          ),
        reason: z
          .string()
          .nullable()
          .describe('Why a gap was not examined, or the kind of the failure that a pending window waits for.'),
        detail: z.string().nullable(),
        gapId: z.string().nullable(),
        runAt: time.nullable().describe('Slot of the run that examines a pending window.'),
      }),
    )
    .describe('In order, without overlap, cut to the range. Adjacent covered time is one window.'),
  isComplete: z.boolean().describe('false: the range has more than 2000 windows, and the newest are listed.'),
});
export type WindowList = z.infer<typeof WindowList>;
