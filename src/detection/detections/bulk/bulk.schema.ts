import { z } from 'zod';
import { isObject } from '../../../platform/lib/json/json-values.ts';
import { Stale } from '../../../platform/http/responses/problem.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import { Tags } from '../record/field-schemas.ts';
import { DetectionFilter } from '../record/detection-input.schema.ts';

const idsMax = 1000;

export const BulkRequest = z
  .strictObject({
    action: z.enum(['enable', 'disable', 'delete', 'restore', 'tag', 'untag']),
    ids: z.array(z.guid('must be a UUID').toLowerCase()).min(1).max(idsMax).optional(),
    ifMatch: z
      .record(z.guid('must be a UUID').toLowerCase(), boundedString({ min: 1, max: 500 }))
      .refine((versions) => Object.keys(versions).length <= idsMax, `must have at most ${idsMax} entries`)
      .optional()
      .describe(
        'What `If-Match` would be for single detections, by ID. One of another version fails with `precondition_failed` and `stale`. The others are changed.',
      ),
    filter: z
      .strictObject(DetectionFilter.omit({ limit: true, cursor: true }).shape)
      .optional()
      .describe('Same filters as GET /api/detections. {} selects all detections. Deleted ones are never selected.'),
    tags: Tags.optional().describe('Required for the actions tag and untag.'),
    dryRun: z.boolean().optional().describe('true: report the results without changing anything.'),
  })
  .refine(({ ids, filter }) => (ids === undefined) !== (filter === undefined), {
    message: 'specify either ids or filter',
    path: ['ids'],
  })
  .refine(({ action, tags }) => action.endsWith('tag') === (tags !== undefined && tags.length > 0), {
    message: 'tags are required for tag and untag, and not allowed for other actions',
    path: ['tags'],
  });
export type BulkRequest = z.infer<typeof BulkRequest>;

const itemResult = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z.object({
    id: z.string().nullable(),
    name: z.string().nullable(),
    outcome: z.enum(names),
    code: z.string().nullable(),
    detail: z.string().nullable(),
  });

export const BulkResult = z.object({
  dryRun: z.boolean(),
  results: z
    .array(itemResult(['changed', 'unchanged', 'failed']).extend({ stale: Stale.optional() }))
    .describe('In the order of the request. For a filter, at most the first 1000 matches.'),
  more: z.boolean().describe('The filter selects more detections than were processed. Repeat the request.'),
});
export type BulkResult = z.infer<typeof BulkResult>;

export const ImportFormat = z.object({
  format: z
    .enum(['export', 'sigma'])
    .optional()
    .describe('What the body has: `detections`, which is the default, or Sigma `rules`.'),
});

/** Import validates each one itself. A record schema would check every key of all of them in one go. */
const CreateBody = z
  .unknown()
  .check(({ value, issues }) => {
    if (!isObject(value)) issues.push({ code: 'invalid_type', expected: 'object', input: value });
  })
  .meta({ type: 'object', additionalProperties: {} }) as unknown as z.ZodType<Record<string, unknown>>;

const sigmaCharsMax = 24 * 1024 * 1024;

export const ImportRequest = z.strictObject({
  detections: z
    .array(CreateBody)
    .max(idsMax)
    .optional()
    .describe(
      'Create bodies as export returns them, each optionally with `id`, `tests` and `localQuery`. Required without `format=sigma`.',
    ),
  rules: boundedString({ min: 1, max: sigmaCharsMax })
    .optional()
    .describe('Sigma rules as YAML, any number of documents. Required with `format=sigma`, and only allowed there.'),
  target: boundedString({ min: 1, max: 100 })
    .optional()
    .describe('With `format=sigma`: `local`, which is the default, or the id of a connection.'),
  enable: z
    .boolean()
    .optional()
    .describe('With `format=sigma`, true: new detections run hourly. Otherwise they are disabled.'),
  continuous: z
    .boolean()
    .optional()
    .describe(
      'With `format=sigma`, false: rules are not matched when events arrive. Otherwise those that read one dataset are, on the embedded log store.',
    ),
  allowUnknown: z
    .boolean()
    .optional()
    .describe(
      'With `format=sigma`, true: import rules of unknown log sources as well. They match events of other log sources, too.',
    ),
  complete: z
    .boolean()
    .optional()
    .describe(
      'With `format=sigma`: whether `rules` are all rules, so that `proposedDeletions` lists those that are missing. Default: whether they are at least half of the rules of earlier imports.',
    ),
  dryRun: z.boolean().optional().describe('true: report the results without changing anything.'),
});
export type ImportRequest = z.infer<typeof ImportRequest>;

/** How far an import is. */
export type ImportProgress = { phase: 'converting' | 'storing'; rulesDone: number; rulesTotal: number | null };

/** Imports Sigma rules. */
export type ImportSigma = (
  caller: Caller,
  request: { rules: string } & Pick<
    ImportRequest,
    'target' | 'enable' | 'continuous' | 'allowUnknown' | 'complete' | 'dryRun'
  >,
  report?: (progress: ImportProgress) => void,
) => Promise<ImportResult>;

const FieldEdit = z.object({ field: z.string(), before: z.unknown(), after: z.unknown() });

export const ImportResult = z.object({
  dryRun: z.boolean(),
  results: z
    .array(
      itemResult(['created', 'updated', 'unchanged', 'failed']).extend({
        ruleId: z.string().optional().describe('With `format=sigma`: the id of the rule.'),
        kept: z
          .array(FieldEdit)
          .optional()
          .describe(
            'With `format=sigma`: fields that you edited and the rule changed. `before` is your value, which stays.',
          ),
      }),
    )
    .describe('One result for each detection, in the order of the request.'),
  proposedDeletions: z
    .array(z.object({ ruleId: z.string(), id: z.string(), name: z.string() }))
    .optional()
    .describe(
      'With `format=sigma`: detections of earlier imports whose rules the request does not have, if its rules are all (`complete`).',
    ),
});
export type ImportResult = z.infer<typeof ImportResult>;

export const ExportedSet = z.object({
  exportedAt: z.string().meta({ format: 'date-time' }),
  detections: z
    .array(z.record(z.string(), z.unknown()))
    .describe('Create bodies, each with `id` and, if it has tests, `tests` and `localQuery`.'),
});
export type ExportedSet = z.infer<typeof ExportedSet>;
