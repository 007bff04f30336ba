import { z } from 'zod';
import { boundedString } from '../lib/text/bounded-text.ts';

const valueMin = 3;

export const EraseRequest = z.strictObject({
  field: boundedString({ min: 1, max: 255 }).describe('Name of the field in the logs, with dots for nested fields.'),
  value: boundedString({ min: valueMin, max: 4000 }).describe(
    'The exact value. It is replaced with `[erased]` everywhere in events that have it in the field, and in all data derived from events.',
  ),
});
export type EraseRequest = z.infer<typeof EraseRequest>;

export const Erasure = z.object({
  logs: z.int().describe('Number of events.'),
  hits: z.int(),
  rows: z.int().describe('Candidates, including their rows and verdicts.'),
  runs: z.int(),
  steps: z.int(),
  memory: z.int(),
  outbox: z.int(),
  exceptions: z.int(),
  tests: z.int(),
  notes: z.int().describe('Notes on entities.'),
  valueLists: z.int(),
});
export type Erasure = z.infer<typeof Erasure>;

export const RetentionPeriods = z
  .object({
    logsDays: z.int().describe('Events, after they were received.'),
    rowsDays: z.int().describe('Rows and steps of runs that led to no hit.'),
    hitsDays: z.int().describe('Hits with their rows, after they were last seen.'),
    runsDays: z.int().describe('Runs with their steps.'),
    outboxDays: z.int().describe('Bodies of deliveries.'),
    auditDays: z.int().describe('Audit entries.'),
  })
  .describe('In days. Set for the whole service: see docs/reference/settings.md.');
export type RetentionPeriods = z.infer<typeof RetentionPeriods>;
