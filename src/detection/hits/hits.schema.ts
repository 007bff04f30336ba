import { z } from 'zod';
import { entityTypes } from '../entities/entity-names.ts';
import { ActorField } from '../../platform/orgs/orgs.schema.ts';
import { severities } from '../analysis/candidate.ts';
import { Claims, Evidence, ObservationRecord } from '../verdicts/verdicts.schema.ts';
import { detectionCategories } from '../analysis/registry.ts';
import { integerMax, revisionInput, Instant } from '../../platform/lib/schema-parts.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';

export const hitStatuses = ['open', 'false_positive', 'benign', 'true_positive', 'outdated'] as const;
export type HitStatus = (typeof hitStatuses)[number];

const time = z.string().describe('ISO 8601, UTC, with milliseconds.');

export const HitPath = z.object({ id: z.guid('must be a UUID').toLowerCase() });

export const NewHitComment = z.strictObject({ body: boundedString({ min: 1, max: 8_000 }).describe('Markdown.') });
export type NewHitComment = z.infer<typeof NewHitComment>;

export const HitComment = z
  .object({
    id: z.string(),
    hitId: z.string(),
    at: time,
    body: z.string().describe('Markdown of a person, or plain text of a response agent.'),
    keyId: z.string().nullable(),
    actor: ActorField,
    personId: z.string().nullable().describe('The person who wrote it. Null for a key and a response agent.'),
    agentId: z.string().nullable().describe('The response agent that wrote it. Null for a person.'),
    runId: z.string().nullable().describe('The run of the agent.'),
  })
  .meta({ id: 'HitComment' });
export type HitComment = z.infer<typeof HitComment>;

export const HitCommentList = z.object({ comments: z.array(HitComment), nextCursor: z.string().nullable() });
export type HitCommentList = z.infer<typeof HitCommentList>;

export const HitFilter = PageQuery.extend({
  detection: z.guid('must be a UUID').toLowerCase().optional().describe('ID of the detection.'),
  status: z.enum(hitStatuses).optional(),
  severity: z.enum(severities).optional(),
  verdict: z.enum(['raise', 'undecided', 'dismiss']).optional().describe('What the judge concluded.'),
  entity: boundedString({ max: 1000 })
    .optional()
    .describe('Any name of the entity. Hits under its other names are included.'),
  value: boundedString({ max: 2000 })
    .optional()
    .describe('Value of the entity or of a field of the rows, in any case: an indicator, for example.'),
  q: boundedString({ max: 500 })
    .optional()
    .describe('Part of the headline or of the entity, in any case. Searches the latest 10,000 hits.'),
  group: z.guid('must be a UUID').toLowerCase().optional().describe('ID of the group.'),
  incident: z.guid('must be a UUID').toLowerCase().optional().describe('ID of the incident.'),
  from: Instant.optional().describe('Hits last seen at or after this time.'),
  to: Instant.optional().describe('Hits first seen before this time.'),
});
export type HitFilter = z.infer<typeof HitFilter>;

export const Hit = z
  .object({
    id: z.string(),
    detectionId: z.string(),
    detection: z
      .object({
        name: z.string(),
        tags: z.array(z.string()),
        techniques: z.array(z.string()),
        rule: z
          .object({ id: z.string(), author: z.string(), license: z.string().nullable() })
          .nullable()
          .describe(
            'The imported Sigma rule that the detection is made of, with its authors. `license`: null if only its source has one, such as the Detection Rule License 1.1 of SigmaHQ.',
          ),
      })
      .describe(
        'The detection as it is now, and the ATT&CK techniques that the rows refer to, else those of its tags.',
      ),
    entity: z.string(),
    entityType: z.string(),
    kind: z.enum(detectionCategories),
    severity: z.enum(severities),
    confidence: z.number().int(),
    headline: z.string(),
    summary: z.string(),
    nextStep: z.string(),
    verdict: z
      .enum(['raise', 'undecided', 'dismiss'])
      .describe(
        '`undecided`: the data did not decide the case, so a person must. `dismiss`: the judge dismissed it, but its facts are of severity high or above.',
      ),
    openQuestion: z.string().nullable().describe('What has to be found out. Null unless `verdict` is `undecided`.'),
    claims: Claims,
    evidence: Evidence,
    techniques: z.array(z.string()).describe('ATT&CK techniques that the judge named.'),
    judged: z.boolean().describe('`false`: the model gave no usable verdict, so the hit is based on its facts alone.'),
    unjudgedReason: z
      .string()
      .nullable()
      .describe(
        'Why the model gave no verdict: the kind of a failure, such as `budget_exceeded`, `model_unavailable` or `invalid_verdict`. Null if the hit has a verdict.',
      ),
    modelDisagrees: z
      .string()
      .nullable()
      .describe('Why the judge disagrees with facts of high severity, or dismissed the hit later. Null if it agrees.'),
    groupId: z
      .string()
      .nullable()
      .describe('Group of the hits that the detection raised in the same window. Null if there are fewer than five.'),
    incidentId: z
      .string()
      .nullable()
      .describe('Incident of the hit. Null if it is alone or was written within the last seconds.'),
    url: z
      .string()
      .nullable()
      .describe('Link to the hit in the console. Null if the service does not know its public address.'),
    status: z.enum(hitStatuses),
    revision: z.number().int(),
    occurrenceCount: z.number().int().describe('Windows in which the hit was seen.'),
    windowFrom: time,
    windowTo: time,
    firstSeenAt: time,
    lastSeenAt: time,
    latencyMs: z
      .number()
      .int()
      .nullable()
      .describe(
        'Milliseconds from the arrival of its events to the hit, if they were matched when they arrived. Includes the time of a model that judged it. Null for a hit that a slot found.',
      ),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Hit' });
export type Hit = z.infer<typeof Hit>;

export const HitList = z.object({ hits: z.array(Hit), nextCursor: z.string().nullable() });
export type HitList = z.infer<typeof HitList>;

const EvidenceRow = z.object({
  rowId: z.string(),
  time: z.string().nullable(),
  fields: z.record(z.string(), z.string()),
  eventIds: z.array(z.string()).optional(),
});

export const HitDetail = Hit.extend({
  facts: z.record(z.string(), z.unknown()).describe('Facts computed from the rows: counts, history, peers.'),
  rows: z.array(EvidenceRow).describe('The rows behind the hit, as rendered for the judge.'),
  runs: z.array(z.string()).describe('IDs of the runs that found the hit, of the latest 200 occurrences.'),
  occurrences: z
    .array(z.object({ runId: z.string(), windowFrom: time, seenAt: time }))
    .describe('Latest first, at most 200.'),
  history: z
    .array(
      z.object({
        at: time,
        keyId: z.string().nullable(),
        actor: ActorField,
        personId: z.string().nullable().describe('The person who made it. Null for a key and the service.'),
        from: z.enum(hitStatuses),
        to: z.enum(hitStatuses),
        reason: z.string().nullable(),
      }),
    )
    .describe('Status changes by analysts, latest first, at most 200.'),
});
export type HitDetail = z.infer<typeof HitDetail>;

export const HitEvidence = z.object({
  observations: z
    .array(ObservationRecord)
    .describe(
      "What the verdict cites, oldest first: `rows`, the result of the detection's own query, and the observations of the investigation.",
    ),
});
export type HitEvidence = z.infer<typeof HitEvidence>;

export const HitVerdict = z.strictObject({
  status: z.enum(hitStatuses),
  reason: boundedString({ max: 2000 }).optional(),
  expectedRevision: revisionInput(
    integerMax,
    'The `revision` that the decision is based on. If the content or a status changed since, the answer is 409, and `stale` lists what changed. That a hit was seen again does not count. Absent: applies to any revision.',
  ),
});
export type HitVerdict = z.infer<typeof HitVerdict>;

export const EntityFilter = HitFilter.pick({ limit: true, cursor: true, detection: true, status: true }).extend({
  q: boundedString({ max: 400 }).optional().describe('Part of a name of the entity, in any case, or any name of it.'),
  type: z.enum(entityTypes).optional(),
});
export type EntityFilter = z.infer<typeof EntityFilter>;

export const EntityList = z.object({
  entities: z.array(
    z.object({
      entity: z.string().describe('The canonical name.'),
      entityType: z.enum(entityTypes),
      names: z.array(z.string()).describe('Its names as hits write them, last seen first. At most 20.'),
      hits: z.number().int(),
      open: z.number().int(),
      severity: z.enum(severities).describe('Highest severity of its hits.'),
      detectionIds: z.array(z.string()).describe('At most 50.'),
      firstSeenAt: time,
      lastSeenAt: time,
    }),
  ),
  nextCursor: z.string().nullable(),
});
export type EntityList = z.infer<typeof EntityList>;

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
