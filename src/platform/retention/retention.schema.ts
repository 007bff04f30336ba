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
  skills: z.int().describe('Versions of skills.'),
});
export type Erasure = z.infer<typeof Erasure>;

export const RetentionPeriods = z.object({
  logsDays: z.int().describe('Events, after they were received.'),
  rowsDays: z.int().describe('Rows and steps of runs that led to no hit.'),
  hitsDays: z.int().describe('Hits with their rows, after they were last seen.'),
  runsDays: z.int().describe('Runs with their steps.'),
  outboxDays: z.int().describe('Bodies of deliveries. The same for all organizations.'),
  auditDays: z.int().describe('Audit entries. The same for all organizations.'),
});
export type RetentionPeriods = z.infer<typeof RetentionPeriods>;

const days = (min: number) => z.int().min(min).max(3650).nullable();
const choiceFields = { logsDays: days(1), rowsDays: days(1), hitsDays: days(1), runsDays: days(31) };
/** The periods that may differ between organizations. */
export type RetentionKind = keyof typeof choiceFields;
export const retentionKinds = Object.keys(choiceFields) as RetentionKind[];

export const RetentionChoice = z.object(choiceFields);
export type RetentionChoice = z.infer<typeof RetentionChoice>;

export const ChangeRetention = z.strictObject(choiceFields).partial();
export type ChangeRetention = z.infer<typeof ChangeRetention>;

export const OrganizationRetention = RetentionPeriods.extend({
  allowed: RetentionPeriods.describe('The longest periods that the operator of the service allows.'),
  own: RetentionChoice.describe('What the organization chose. Null: as long as is allowed.'),
  updatedAt: z.string().nullable().describe('When a period of this organization changed last. Null: never.'),
})
  .describe('How long data of the organization is kept, in days.')
  .meta({ id: 'OrganizationRetention' });
export type OrganizationRetention = z.infer<typeof OrganizationRetention>;
