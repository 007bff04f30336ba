import { z } from 'zod';
import { verdictShape } from '../verdicts/verdicts.schema.ts';
import { severities } from '../analysis/candidate.ts';
import { Tuning } from '../analysis/tuning.schema.ts';
import { PreviewInput } from '../detections/record/detection-input.schema.ts';
import { CostUsd, integerMax, Instant } from '../../platform/lib/schema-parts.ts';
import { Suppressed } from '../runs/run-model/runs.schema.ts';

const Time = z.string().meta({ format: 'date-time' });

export const PreviewQuery = z.object({
  validate: z
    .enum(['true', 'false'])
    .optional()
    .describe('Has no effect: a column that no event has is null with a warning, as in a scheduled run.'),
});

export const PreviewDetection = PreviewInput;
export type PreviewDetection = z.infer<typeof PreviewDetection>;

const Verdict = z.object({
  ...verdictShape,
  unjudgedReason: z.string().optional().describe('Why the verdict comes from the facts instead of the model.'),
});

const PreviewCandidate = z.object({
  entity: z.string(),
  entityType: z.string(),
  severity: z.enum(severities),
  facts: z.record(z.string(), z.unknown()),
  rows: z.array(
    z.object({
      rowId: z.string(),
      time: z.string().nullable(),
      fields: z.record(z.string(), z.string()),
      eventIds: z.array(z.string()).optional(),
    }),
  ),
  outcome: z
    .enum(['judged', 'occurrence', 'negative', 'excepted', 'allowed'])
    .describe('occurrence, negative: the same candidate was judged shortly before.'),
  verdict: Verdict.nullable(),
});

export const Preview = z.object({
  windows: z.array(
    z.object({
      from: Time,
      to: Time,
      rowsTotal: z.int(),
      truncated: z.boolean(),
      learning: z.boolean(),
      candidates: z.int(),
    }),
  ),
  rowsTotal: z.int(),
  candidates: z
    .array(PreviewCandidate)
    .describe('The first 100 candidates, or fewer if their rows have more than 1,000,000 characters together.'),
  candidatesTotal: z.int(),
  suppressed: Suppressed,
  hits: z.int(),
  continuous: z
    .strictObject({ possible: z.boolean(), reason: z.string().nullable().describe('Why not.') })
    .describe('Whether `continuous: true` would have events matched when they arrive.'),
  noData: z.boolean().describe('A dataset in the query has never received an event.'),
  complete: z.boolean().describe('false: the time limit was reached before all windows were examined.'),
  model: z.string(),
  costUsd: CostUsd,
  warnings: z
    .array(z.object({ code: z.string(), detail: z.string() }))
    .describe(
      'Columns that the detection requires but no row of a window has, and what makes scheduled runs differ, such as events that arrived more than a week late (`late_data`).',
    ),
});
export type Preview = z.infer<typeof Preview>;

export const BacktestRequest = z.strictObject({
  from: Instant,
  to: Instant,
  promptVersion: z.int().min(1).max(integerMax).optional().describe('A prompt version to compare with the active one.'),
  modelAlias: z.string().optional().describe('A model alias to compare with the active one.'),
});
export type BacktestRequest = z.infer<typeof BacktestRequest>;

const Share = z.number().min(0).max(1).nullable();

const Version = z.object({
  promptVersion: z.int(),
  modelAlias: z.string(),
  model: z.string(),
  hits: z.int(),
  occurrences: z.int(),
  hitsPerDay: z.array(z.object({ day: z.string(), hits: z.int() })),
  candidates: z.int(),
  suppressed: Suppressed,
  costUsd: CostUsd,
  reviewed: z.int().describe('Hits of this version that were reviewed.'),
  precision: Share.describe('Share of true positives among the reviewed hits.'),
  recall: Share.describe('Share of the true positives of the time range that this version found.'),
});

export const Backtest = z.object({
  from: Time,
  to: Time.describe('The end of the last window examined.'),
  windows: z.int(),
  rowsTotal: z.int(),
  complete: z.boolean(),
  versions: z.array(Version).describe('The active version, then the requested one.'),
  warnings: z
    .array(z.object({ code: z.string(), detail: z.string() }))
    .describe('The warnings of the active version, as those of a preview.'),
  proposal: z
    .object({
      tuning: Tuning,
      candidatesPerWeekBefore: z.number(),
      candidatesPerWeekAfter: z.number(),
      truePositivesKept: z.int(),
    })
    .nullable()
    .optional()
    .describe(
      'A tuning with which the active version raises less than one candidate of severity medium or above per week and still finds every reviewed true positive. Null if it already does, or if no tuning suffices.',
    ),
});
export type Backtest = z.infer<typeof Backtest>;

/** A report of a backtest in progress. */
export type BacktestProgress = {
  /** tuning: all windows are examined, and the service looks for a quieter tuning. */
  phase: 'examining' | 'tuning';
  /** Windows of all versions, with those before the range that fill memory. */
  windowsDone: number;
  windowsTotal: number;
};

export const TestQuery = z.object({
  judge: z
    .enum(['model', 'analyst'])
    .optional()
    .describe("model: the detection's model, within its budgets. analyst: the built-in analyst, at no cost."),
});
export type TestQuery = z.infer<typeof TestQuery>;

export const TestResult = z.object({
  name: z.string(),
  passed: z.boolean(),
  expected: z.array(z.string()),
  found: z.array(z.string()),
  missing: z.array(z.string()),
  unexpected: z.array(z.string()),
  error: z.string().nullable(),
  suppressed: Suppressed.optional().describe('Absent if the test could not run.'),
  ms: z.number(),
});
export type TestResult = z.infer<typeof TestResult>;

export const TestRun = z.object({
  passed: z.boolean().describe('true: there is at least one test and all tests passed.'),
  queryTested: z
    .boolean()
    .describe('false: the query is written for another SIEM and was not run. The events were used as its result rows.'),
  model: z.string(),
  tokens: z.int(),
  costUsd: CostUsd,
  warnings: z
    .array(z.object({ code: z.string(), detail: z.string() }))
    .describe('Columns and fields that the detection uses and that no event of the tests has.'),
  results: z.array(TestResult),
});
export type TestRun = z.infer<typeof TestRun>;

const CostRange = z.object({ low: z.number(), expected: z.number(), high: z.number() });

/** What a detection will cost per month of 30 days. */
export const CostEstimate = z
  .object({
    modelAlias: z.string(),
    candidates: CostRange.describe(
      'Candidates to judge per month of 30 days. Between `low` and `high` in 95 % of months like the past.',
    ),
    aliases: z
      .array(
        z.object({
          alias: z.string(),
          model: z.string().nullable().describe('Null if the alias is no longer configured.'),
          calls: CostRange,
          tokens: CostRange,
          costUsd: CostRange.nullable().describe('Null: the alias has no price.'),
        }),
      )
      .describe('Per month, by alias. Empty for the built-in analyst, which costs nothing.'),
    costUsd: CostRange.nullable().describe('Of all aliases. Null if one of them has no price.'),
    basis: z.object({
      candidates: z.object({
        source: z
          .enum(['runs', 'preview'])
          .describe('`runs`: the scheduled runs of the present query. `preview`: the query on the recent past.'),
        from: Time,
        to: Time,
        days: z.int(),
        candidates: z.int().describe('Candidates that were judged, or would have been, on these days.'),
        complete: z.boolean().describe('false: the time limit was reached before the preview examined everything.'),
      }),
      tokens: z.object({
        source: z
          .enum(['detection', 'organization', 'typical', 'analyst'])
          .describe(
            'Where the tokens of a candidate are from: verdicts of this detection in the last 30 days, those of all detections with its alias, or typical figures measured with the product. `analyst`: it uses no model.',
          ),
        verdicts: z.int().describe('The verdicts that were measured.'),
      }),
    }),
  })
  .meta({ id: 'CostEstimate' });
export type CostEstimate = z.infer<typeof CostEstimate>;
