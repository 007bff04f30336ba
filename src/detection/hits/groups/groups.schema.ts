import { z } from 'zod';
import { PageQuery } from '../../../platform/lib/page-request.ts';
import { Instant } from '../../../platform/lib/schema-parts.ts';
import { severities } from '../../analysis/candidate.ts';
import { hitStatuses } from '../hits.schema.ts';

const time = z.string().describe('ISO 8601, UTC, with milliseconds.');

export const HitGroupPath = z.object({ id: z.guid('must be a UUID').toLowerCase() });

export const HitGroupFilter = PageQuery.extend({
  detection: z.guid('must be a UUID').toLowerCase().optional().describe('ID of the detection.'),
  status: z.enum(hitStatuses).optional().describe('Groups with a hit of this status.'),
  from: Instant.optional().describe('Groups whose window ends after this time.'),
  to: Instant.optional().describe('Groups whose window begins before this time.'),
});
export type HitGroupFilter = z.infer<typeof HitGroupFilter>;

export const HitGroup = z
  .object({
    id: z.string(),
    detectionId: z.string(),
    detectionName: z.string(),
    headline: z.string().describe('The number of entities, their type and the name of the detection.'),
    severity: z.enum(severities).describe('Highest severity of its hits.'),
    hits: z.number().int(),
    statuses: z.partialRecord(z.enum(hitStatuses), z.number().int()).describe('Number of hits by status.'),
    unjudged: z.number().int().describe('Hits on which the model gave no verdict.'),
    entities: z
      .array(z.object({ entity: z.string(), entityType: z.string(), severity: z.enum(severities), hitId: z.string() }))
      .describe('The most severe ones, at most 20. `GET /api/hits?group=` lists all.'),
    revision: z
      .number()
      .int()
      .describe(
        'Changes when the content or the status of a hit changes or a hit joins. `expectedRevision` of a change.',
      ),
    windowFrom: time,
    windowTo: time,
    lastSeenAt: time,
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'HitGroup' });
export type HitGroup = z.infer<typeof HitGroup>;

export const HitGroupChange = HitGroup.extend({
  change: z
    .object({ id: z.string().describe('Undoes the change: `POST /api/hit-groups/{id}/undo`.'), hits: z.number().int() })
    .nullable()
    .describe('The change that was made, with the number of hits. Null if no hit changed.'),
}).meta({ id: 'HitGroupChange' });
export type HitGroupChange = z.infer<typeof HitGroupChange>;

export const UndoGroupChange = z.strictObject({
  change: z.guid('must be a UUID').toLowerCase().describe('ID of the change to undo.'),
});

export const HitGroupList = z.object({ groups: z.array(HitGroup), nextCursor: z.string().nullable() });
export type HitGroupList = z.infer<typeof HitGroupList>;
