import { z } from 'zod';
import { IncidentDetail } from '../../detection/incidents/incidents.schema.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { CostUsd, Instant, integerMax, revisionInput } from '../../platform/lib/schema-parts.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';

const id = z.guid('must be a UUID').toLowerCase();
const time = z.string().meta({ format: 'date-time' });
const count = z.int().nonnegative();
const plainWords = boundedString({ min: 1, max: 4_000 });

export const huntKinds = ['sql', 'indicators', 'technique'] as const;
export type HuntKind = (typeof huntKinds)[number];
export const huntCadences = ['daily', 'weekly'] as const;
export const findingChanges = ['new', 'same', 'gone'] as const;

const settings = {
  name: boundedString({ min: 1, max: 100 }),
  kind: z
    .enum(huntKinds)
    .describe(
      '`sql`: a query. `indicators`: rows with one of the indicators. `technique`: rows that detections of an ATT&CK technique find.',
    ),
  question: boundedString({ min: 1, max: 100_000 }).describe(
    '`sql`: a query as in a detection. `indicators`: one indicator per line, at most 1,000. `technique`: the ID of a technique, such as T1078, with its sub-techniques.',
  ),
  words: plainWords.nullable().describe('What the query is to find, in plain words. Only for the kind `sql`.'),
  rowMeaning: boundedString({ min: 1, max: 500 })
    .nullable()
    .describe('What a row means, in one sentence. Only for the kind `sql`.'),
  connectionId: id
    .nullable()
    .describe(
      'Connection to search. Null: the embedded store. Detections of a technique search their own connections.',
    ),
  span: z
    .union([
      z.strictObject({ days: z.int().min(1).max(3650).describe('The days before a run.') }),
      z.strictObject({ from: Instant, to: Instant.describe('Not included.') }),
    ])
    .describe('The time to search, on event time.'),
  cadence: z
    .enum(huntCadences)
    .nullable()
    .describe('Runs on its own, first at once. Needs a span of days. Null: runs when somebody asks.'),
};

export const HuntInput = z.strictObject({
  ...settings,
  words: settings.words.default(null),
  rowMeaning: settings.rowMeaning.default(null),
  connectionId: settings.connectionId.default(null),
  cadence: settings.cadence.default(null),
});
export type HuntInput = z.infer<typeof HuntInput>;

export const ChangeHunt = z.strictObject(settings).partial();
export type ChangeHunt = z.infer<typeof ChangeHunt>;

export const ProposeHunt = z.strictObject({
  words: plainWords.describe('What to find, in plain words.'),
  connectionId: HuntInput.shape.connectionId,
  span: settings.span.describe('The time that the hunt searches. The query is tried on its last day.'),
});
export type ProposeHunt = z.infer<typeof ProposeHunt>;

export const ProposedHunt = z
  .object({
    words: z.string(),
    question: z.string().describe('The query. Not stored.'),
    rowMeaning: z.string(),
    rows: count.describe('Rows that it returned on the last day of the span, at most 100.'),
    repairs: z.array(z.string()).describe('The problems of earlier queries, oldest first.'),
    tokens: count,
    costUsd: CostUsd,
  })
  .meta({ id: 'ProposedHunt' });
export type ProposedHunt = z.infer<typeof ProposedHunt>;

export const HuntPath = z.strictObject({ id });

export const HuntRun = z
  .object({
    id: z.string(),
    huntId: z.string(),
    state: z.enum(['queued', 'running', 'completed', 'failed']),
    isScheduled: z.boolean(),
    kind: z.enum(huntKinds),
    question: z.string().describe('The question as it was.'),
    from: time,
    to: time,
    findings: count.describe('At most 1,000.'),
    newFindings: count.describe('Findings that the previous run does not have. All of them without one.'),
    goneFindings: count.describe('Findings of the previous run in this span that this run does not have.'),
    previousRunId: z.string().nullable().describe('The last completed run of the same question.'),
    isComplete: z.boolean().describe('`false`: a limit was reached or a query failed, as `warnings` say.'),
    queries: z
      .array(z.object({ query: z.string(), detectionId: z.string().nullable(), findings: count }))
      .describe('The queries that returned findings.'),
    queriesSent: count,
    warnings: z.array(z.string()),
    failure: z.string().nullable().describe('Why the run failed.'),
    ms: count.nullable().describe('How long it took.'),
    createdAt: time,
    finishedAt: time.nullable(),
  })
  .meta({ id: 'HuntRun' });
export type HuntRun = z.infer<typeof HuntRun>;

export const Hunt = z
  .object({
    id: z.string(),
    ...settings,
    nextRunAt: time.nullable(),
    lastRun: HuntRun.omit({ queries: true }).nullable(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Hunt' });
export type Hunt = z.infer<typeof Hunt>;

export const HuntList = z.object({ hunts: z.array(Hunt).describe('By name.') });
export const HuntRunList = z.object({
  runs: z.array(HuntRun).describe('Newest first.'),
  nextCursor: z.string().nullable(),
});
export type HuntRunList = z.infer<typeof HuntRunList>;

export const FindingQuery = PageQuery.extend({
  change: z.enum(findingChanges).optional().describe('Compared with the previous run. `gone`: findings of that run.'),
});
export type FindingQuery = z.infer<typeof FindingQuery>;

export const HuntFinding = z
  .object({
    id: z.string(),
    runId: z.string(),
    change: z.enum(findingChanges),
    at: time.nullable().describe('Time of the row.'),
    dataset: z.string().nullable(),
    rowId: z.string().describe('`_id` of the event, or a hash of a row without one.'),
    entity: z.string().nullable().describe('The user, host or address that the row is about.'),
    detail: z.string().nullable().describe('The indicator or detection that matched.'),
    fields: z.record(z.string(), z.string()),
    query: z.string().describe('The query that returned the row.'),
    incidentIds: z.array(z.string()).describe('Incidents that have the row.'),
  })
  .meta({ id: 'HuntFinding' });
export type HuntFinding = z.infer<typeof HuntFinding>;

export const HuntFindingList = z.object({
  findings: z.array(HuntFinding).describe('Latest first.'),
  nextCursor: z.string().nullable(),
});
export type HuntFindingList = z.infer<typeof HuntFindingList>;

export const JoinFindings = z.strictObject({
  findingIds: z.array(id).min(1).max(200),
  incidentId: id.optional().describe('Absent: a new incident is opened, of severity `medium`.'),
  expectedRevision: revisionInput(integerMax, 'The `revision` of the incident that the decision is based on.'),
});
export type JoinFindings = z.infer<typeof JoinFindings>;
export const JoinedIncident = IncidentDetail;
