import { z } from 'zod';
import { Tags } from '../record/detection-fields.ts';
import { DetectionFilter } from '../record/detection-input.ts';

const idsMax = 1000;

export const BulkRequest = z
  .strictObject({
    action: z.enum(['enable', 'disable', 'delete', 'restore', 'tag', 'untag']),
    ids: z.array(z.guid('must be a UUID').toLowerCase()).min(1).max(idsMax).optional(),
    filter: z
      .strictObject(DetectionFilter.omit({ limit: true, cursor: true }).shape)
      .optional()
      .describe('As the query of GET /api/detections; {} is all of them. Finds none that is deleted.'),
    tags: Tags.optional().describe('For tag and untag.'),
    dryRun: z.boolean().optional().describe('true: only say what would happen.'),
  })
  .refine(({ ids, filter }) => (ids === undefined) !== (filter === undefined), {
    message: 'either ids or filter is needed',
    path: ['ids'],
  })
  .refine(({ action, tags }) => action.endsWith('tag') === (tags !== undefined && tags.length > 0), {
    message: 'tags are needed for tag and untag, and for these only',
    path: ['tags'],
  });
export type BulkRequest = z.infer<typeof BulkRequest>;

const outcome = <const Names extends readonly [string, ...string[]]>(names: Names) =>
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
    .array(outcome(['changed', 'unchanged', 'failed']))
    .describe('In the order asked for; of a filter the first 1000.'),
  more: z.boolean().describe('The filter finds more than were looked at: ask again.'),
});
export type BulkResult = z.infer<typeof BulkResult>;

export const ImportRequest = z.strictObject({
  detections: z
    .array(z.record(z.string(), z.unknown()))
    .max(idsMax)
    .describe('Bodies as for create, each with `id`, `tests` and `localQuery` if any: what export gave.'),
  dryRun: z.boolean().optional().describe('true: only say what would happen.'),
});
export type ImportRequest = z.infer<typeof ImportRequest>;

export const ImportResult = z.object({
  dryRun: z.boolean(),
  results: z.array(outcome(['created', 'updated', 'unchanged', 'failed'])).describe('One for each, in order.'),
});
export type ImportResult = z.infer<typeof ImportResult>;

export const ExportedSet = z.object({
  exportedAt: z.string().meta({ format: 'date-time' }),
  detections: z.array(z.record(z.string(), z.unknown())).describe('Each a body for create, with `id` and `tests`.'),
});
export type ExportedSet = z.infer<typeof ExportedSet>;
