import { z } from 'zod';
import { ActorField } from '../../platform/orgs/orgs.schema.ts';
import { Stale } from '../../platform/http/responses/problem.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { integerMax, revisionInput } from '../../platform/lib/schema-parts.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { severities } from '../analysis/candidate.ts';
import { connectionKinds } from './connections.ts';

export const incidentStates = ['open', 'in_progress', 'closed'] as const;
export type IncidentState = (typeof incidentStates)[number];
export const incidentResolutions = ['true_positive', 'false_positive', 'benign', 'outdated'] as const;
export type IncidentResolution = (typeof incidentResolutions)[number];
/** What waits for a person. */
export const inboxes = ['mine', 'mentioned', 'watching', 'unowned', 'late'] as const;
export type Inbox = (typeof inboxes)[number];
const incidentSorts = ['latest', 'severity', 'due'] as const;

const time = z.string().describe('ISO 8601, UTC, with milliseconds.');
const id = z.guid('must be a UUID').toLowerCase();

export const IncidentPath = z.object({ id });

export const IncidentFilter = PageQuery.extend({
  state: z
    .enum([...incidentStates, 'active'])
    .optional()
    .describe('`active`: all that are not closed.'),
  severity: z.enum(severities).optional(),
  owner: boundedString({ max: 255 }).optional().describe('Exact name of the owner. Empty: incidents without an owner.'),
  watcher: id.optional().describe('ID of a person who watches it.'),
  inbox: z
    .enum(inboxes)
    .optional()
    .describe(
      'What waits for the person who calls. `mentioned`: a comment mentions the person, who has not opened the incident since. The others are not closed. `mine`: the person owns it. `late`: past its due time. For a key, `mine`, `mentioned` and `watching` are empty.',
    ),
  entity: boundedString({ max: 1000 })
    .optional()
    .describe('Value of any role that a hit of the incident shows, in any case: a user, host, address or indicator.'),
  q: boundedString({ max: 500 }).optional().describe('Part of the title or of the owner, in any case.'),
  sort: z
    .enum(incidentSorts)
    .optional()
    .describe('`latest`: last seen first, the default. `severity`: most severe first. `due`: due first.'),
});
export type IncidentFilter = z.infer<typeof IncidentFilter>;

export const Incident = z
  .object({
    id: z.string(),
    title: z.string().describe('Its most severe entity, and the numbers of other entities, hits and detections.'),
    state: z.enum(incidentStates),
    resolution: z.enum(incidentResolutions).nullable().describe('How it ended. Null unless it is closed.'),
    severity: z.enum(severities).describe('Highest severity of its hits, unless a person set it.'),
    severitySet: z.boolean().describe('`true`: a person set the severity.'),
    owner: z.string().nullable(),
    ownerId: z.string().nullable().describe('The person who owns it. Null if the owner is a key or anybody else.'),
    touched: z
      .boolean()
      .describe(
        '`true`: a person decided something about it. New hits join only if they are more severe; others are linked.',
      ),
    hits: z.number().int(),
    openHits: z.number().int().describe('Hits that nobody has judged.'),
    revision: z.number().int().describe('Increases with every change. `expectedRevision` of a change.'),
    firstAt: time.describe('When its hits were first seen.'),
    lastAt: time.describe('When its hits were last seen.'),
    dueAt: time,
    createdAt: time,
    updatedAt: time,
    url: z
      .string()
      .nullable()
      .describe('Link to it in the console. Null if the service does not know its public address.'),
  })
  .meta({ id: 'Incident' });
export type Incident = z.infer<typeof Incident>;

export const IncidentList = z.object({ incidents: z.array(Incident), nextCursor: z.string().nullable() });
export type IncidentList = z.infer<typeof IncidentList>;

const count = z.number().int();
export const IncidentInbox = z
  .object({ mine: count, mentioned: count, watching: count, unowned: count, late: count })
  .describe('Incidents by `inbox`.')
  .meta({ id: 'IncidentInbox' });
export type IncidentInbox = z.infer<typeof IncidentInbox>;

const Cell = z.object({
  hitId: z.string(),
  rowId: z.string().nullable().describe('Null: the value is the entity of the hit.'),
  field: z.string().nullable(),
});

export const IncidentDetail = Incident.extend({
  stages: z
    .array(
      z.object({
        tactic: z.string().nullable().describe('Short name of the ATT&CK tactic. Null for hits without a technique.'),
        name: z.string(),
        techniques: z.array(z.string()),
        hits: z.number().int(),
        hitIds: z.array(z.string()).describe('Its hits in order of time, at most 200.'),
        firstAt: time,
        lastAt: time,
      }),
    )
    .describe('The stages by ATT&CK tactic, in order of time.'),
  entities: z
    .array(
      z.object({
        kind: z.enum(connectionKinds),
        type: z.string(),
        value: z.string(),
        hits: z.number().int(),
        others: z.number().int().describe('Other entities whose hits had the value before.'),
      }),
    )
    .describe('Values that its hits show, those of most hits first, at most 200.'),
  reasons: z
    .array(
      z.object({
        kind: z.enum(connectionKinds),
        type: z.string(),
        value: z.string(),
        hitIds: z.array(z.string()).describe('The hits that the value joins, in order of time, at most 200.'),
        hits: z.number().int(),
        cells: z.array(Cell).describe('Cells that show the value, at most 200.'),
      }),
    )
    .describe('Why the hits belong together, the values of most hits first, at most 200.'),
  risks: z
    .array(
      z.object({
        type: z.string(),
        value: z.string(),
        score: z.number().describe('The highest risk that its hits of this incident reached together.'),
        at: time.describe('When they reached it.'),
        hits: z.number().int().describe('Hits that added to it.'),
      }),
    )
    .describe(
      'Entities whose hits reached the risk for an incident of their own (`TOCSIN_RISK_THRESHOLD`). This joins hits that are weak or further apart than others may be. The highest first, at most 200.',
    ),
  watchers: z
    .array(z.object({ personId: z.string(), name: z.string() }))
    .describe('People who watch it, by choice or since a comment mentioned them, by name. At most 200.'),
  links: z
    .array(
      z.object({
        hitId: z.string(),
        incidentId: z.string().nullable().describe('Incident of the hit. Null if it is alone.'),
        type: z.string(),
        value: z.string(),
        at: time,
      }),
    )
    .describe(
      'Hits that share a value and did not join, because a person touched one of the incidents. At most 200, latest first.',
    ),
}).meta({ id: 'IncidentDetail' });
export type IncidentDetail = z.infer<typeof IncidentDetail>;

const expectedRevision = revisionInput(
  integerMax,
  'The `revision` that the decision is based on. If the incident changed since, the answer is 409, and `stale` lists what changed. Absent: applies to any revision.',
);
const hitIds = z.array(id).min(1).max(5000);

export const NewIncident = z.strictObject({ hitIds });
export type NewIncident = z.infer<typeof NewIncident>;

export const ChangeIncident = z.strictObject({
  state: z.enum(incidentStates).optional(),
  resolution: z
    .enum(incidentResolutions)
    .optional()
    .describe('Required to close it. Its hits that nobody has judged get this status.'),
  severity: z.enum(severities).nullable().optional().describe('Null: follows from its hits again.'),
  owner: boundedString({ min: 1, max: 255 })
    .nullable()
    .optional()
    .describe('Name of a person of the organization, in any case, or any other name.'),
  reason: boundedString({ max: 2000 }).optional().describe('For the history of its hits, if it is closed.'),
  expectedRevision,
});
export type ChangeIncident = z.infer<typeof ChangeIncident>;

export const ChangeIncidents = z.strictObject({
  incidents: z
    .array(ChangeIncident.extend({ id, watching: z.boolean().optional().describe('Whether the caller watches it.') }))
    .min(1)
    .max(100)
    .describe('The changes of each incident.'),
});
export type ChangeIncidents = z.infer<typeof ChangeIncidents>;

export const ChangedIncidents = z.object({
  results: z
    .array(
      z.object({
        id: z.string(),
        outcome: z.enum(['changed', 'failed']),
        incident: Incident.nullable().describe('The incident after the change. Null if the change failed.'),
        code: z.string().nullable(),
        detail: z.string().nullable(),
        stale: Stale.optional(),
      }),
    )
    .describe('In the order of the request.'),
});
export type ChangedIncidents = z.infer<typeof ChangedIncidents>;

export const WatchIncident = z.strictObject({
  watching: z.boolean(),
  personId: id
    .optional()
    .describe('Default: the person who calls. Another person needs the scope `hits:write`. Required with a key.'),
});
export type WatchIncident = z.infer<typeof WatchIncident>;

export const MergeIncidents = z.strictObject({
  incidentIds: z.array(id).min(1).max(100).describe('Incidents whose hits join this one. Their IDs stay valid for it.'),
  expectedRevision,
});
export type MergeIncidents = z.infer<typeof MergeIncidents>;

export const SplitIncident = z.strictObject({
  hitIds: hitIds.describe('Hits of the incident that become an incident of their own.'),
  expectedRevision,
});
export type SplitIncident = z.infer<typeof SplitIncident>;

export const MoveHits = z.strictObject({
  add: hitIds.optional().describe('Hits that join the incident, from wherever they are.'),
  remove: hitIds.optional().describe('Hits to take out of the incident. Each then stands alone.'),
  expectedRevision,
});
export type MoveHits = z.infer<typeof MoveHits>;

export const NewIncidentComment = z.strictObject({
  body: boundedString({ min: 1, max: 8000 }).describe(
    'Markdown. `@name` or `@"name"` mentions a person, who watches the incident from then on. The part of an e-mail address before its `@` is enough.',
  ),
});
export type NewIncidentComment = z.infer<typeof NewIncidentComment>;

export const IncidentComment = z
  .object({
    id: z.string(),
    incidentId: z.string(),
    at: time,
    body: z.string().describe('Markdown.'),
    keyId: z.string().nullable(),
    actor: ActorField,
    personId: z.string().nullable().describe('The person who wrote it. Null for a key.'),
  })
  .meta({ id: 'IncidentComment' });
export type IncidentComment = z.infer<typeof IncidentComment>;

export const IncidentCommentList = z.object({ comments: z.array(IncidentComment), nextCursor: z.string().nullable() });
export type IncidentCommentList = z.infer<typeof IncidentCommentList>;

const Finding = z.object({
  huntId: z.string(),
  hunt: z.string().describe('Name of the hunt, which may be deleted.'),
  query: z.string().describe('The query that returned the row.'),
  dataset: z.string().nullable(),
  rowId: z.string(),
  entity: z.string().nullable(),
  fields: z.record(z.string(), z.string()),
  addedAt: time,
});

/** The kinds of entries of a time line. */
export const timelineKinds = ['hit', 'finding', 'comment', 'change', 'status'] as const;
export type TimelineKind = (typeof timelineKinds)[number];

const Entry = z.object({
  id: z.string(),
  at: time,
  kind: z
    .enum(timelineKinds)
    .describe('`finding`: a row that a hunt found. `status`: a change of the status of one of its hits.'),
  keyId: z.string().nullable(),
  actor: ActorField,
  action: z.string(),
  text: z.string().nullable().describe('Headline of the hit, entity of the finding, comment, or reason of the status.'),
  hitId: z.string().nullable(),
  fields: z.array(z.object({ field: z.string(), before: z.unknown(), after: z.unknown() })),
  lastAt: time.nullable().describe('When the hit was seen last.'),
  finding: Finding.nullable().describe('The row, if the entry is one.'),
});

export const IncidentTimeline = z.object({
  entries: z.array(Entry).describe('Latest first.'),
  nextCursor: z.string().nullable(),
});
export type IncidentTimeline = z.infer<typeof IncidentTimeline>;
