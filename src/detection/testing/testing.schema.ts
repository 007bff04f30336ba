import { z } from 'zod';
import { severities } from '../analysis/candidate.ts';
import { PreviewInput } from '../detections/record/detection-input.schema.ts';
import { Instant } from '../../platform/lib/instant.ts';

const Time = z.string().meta({ format: 'date-time' });

export const PreviewDetection = PreviewInput;
export type PreviewDetection = z.infer<typeof PreviewDetection>;

const Verdict = z.object({
  entity: z.string(),
  entityType: z.string(),
  triggered: z.boolean(),
  confidence: z.number(),
  severity: z.enum(severities),
  headline: z.string(),
  summary: z.string(),
  evidence: z.array(z.object({ rowId: z.string(), field: z.string(), value: z.string(), why: z.string() })),
  nextStep: z.string(),
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
    .enum(['judged', 'occurrence', 'negative', 'excepted'])
    .describe('occurrence, negative: the same was judged a short while before.'),
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
  candidates: z.array(PreviewCandidate).describe('The first 100.'),
  candidatesTotal: z.int(),
  hits: z.int(),
  noData: z.boolean().describe('A dataset that the query names never had an event.'),
  complete: z.boolean().describe('false: time was up before all windows were examined.'),
  model: z.string(),
  costUsd: z.number(),
  warnings: z
    .array(z.object({ code: z.string(), detail: z.string() }))
    .describe('Columns that the detection counts on and no row of a window has.'),
});
export type Preview = z.infer<typeof Preview>;

export const BacktestRequest = z.strictObject({
  from: Instant,
  to: Instant,
  promptVersion: z.int().min(1).optional().describe('Beside the active one.'),
  modelAlias: z.string().optional().describe('Beside the active one.'),
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
  costUsd: z.number(),
  reviewed: z.int().describe('Hits found again that a person judged.'),
  precision: Share.describe('Of those, the share of true positives.'),
  recall: Share.describe('Share of the true positives of that time that were found again.'),
});

export const Backtest = z.object({
  from: Time,
  to: Time.describe('As far as windows were examined.'),
  windows: z.int(),
  rowsTotal: z.int(),
  complete: z.boolean(),
  versions: z.array(Version).describe('The active version, and the one asked for beside it.'),
});
export type Backtest = z.infer<typeof Backtest>;

export const TestQuery = z.object({
  judge: z
    .enum(['model', 'analyst'])
    .optional()
    .describe("model: as the detection's alias says, within its budgets; analyst: the built-in analyst, free of cost."),
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
  ms: z.number(),
});
export type TestResult = z.infer<typeof TestResult>;

export const TestRun = z.object({
  passed: z.boolean().describe('There are tests and all of them passed.'),
  queryTested: z.boolean().describe('false: the events stood for the rows of a query of another SIEM.'),
  model: z.string(),
  tokens: z.int(),
  costUsd: z.number(),
  results: z.array(TestResult),
});
export type TestRun = z.infer<typeof TestRun>;
