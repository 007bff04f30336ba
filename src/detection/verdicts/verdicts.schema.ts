import { z } from 'zod';
import { severities } from '../analysis/candidate.ts';

const Citation = z
  .object({
    observation: z.string(),
    rowId: z.string(),
    field: z.string(),
    column: z.string(),
    value: z.string(),
    fact: z.string(),
    hit: z.string(),
    note: z.string(),
    list: z.string(),
    entry: z.string(),
    document: z.string(),
    item: z.string(),
    quote: z.string(),
  })
  .partial()
  .describe(
    'A cell {observation, rowId, field, value}, a figure of an aggregate {observation, column, value}, {fact}, {hit}, {note}, {list, entry}, {document, quote} or {item, quote}.',
  );

export const Claims = z
  .array(
    z.object({
      text: z.string(),
      kind: z.enum(['fact', 'assessment']),
      cites: z.array(Citation),
      status: z
        .enum(['supported', 'cited', 'unproven', 'assessment'])
        .describe(
          '`cited`: what it cites exists and contains every value that it states. `supported`: a second look at the claim and the cited cells alone confirmed it. `unproven`: shown, but proves nothing. `assessment`: claims no fact.',
        ),
      reason: z
        .string()
        .nullable()
        .describe('Why it is unproven, or why it is cited and could not be verified. Null otherwise.'),
    }),
  )
  .describe('The sentences of the verdict, each with what it cites and how far it is proven.');

export const Evidence = z
  .array(
    z.object({
      observation: z
        .string()
        .describe(
          '`rows`, the ID of an observation such as `o1`, or `fact`, `hit`, `note`, `list`, `document` or `item`.',
        ),
      rowId: z.string().describe('ID of the row, or the ID or name of what is cited. Empty for a fact.'),
      field: z.string(),
      value: z.string(),
      why: z.string().describe('The claim that cites it.'),
    }),
  )
  .describe('What the facts of the verdict cite, without claims that are not proven.');

/** The fields that every representation of a verdict has. */
export const verdictShape = {
  entity: z.string(),
  entityType: z.string(),
  verdict: z.enum(['raise', 'dismiss', 'undecided']),
  triggered: z.boolean(),
  confidence: z.number().describe('0-100, in the verdict that is given.'),
  severity: z.enum(severities),
  headline: z.string(),
  summary: z.string(),
  claims: Claims,
  evidence: Evidence,
  techniques: z.array(z.string()).describe('ATT&CK techniques that the judge named.'),
  nextStep: z.string(),
  openQuestion: z.string().nullable().describe('What has to be found out. Null unless `verdict` is `undecided`.'),
};

export const ObservationRecord = z
  .object({
    id: z.string().describe('`rows`, or `o1`, `o2`, … in the order of the tool calls.'),
    tool: z.string(),
    input: z.unknown(),
    query: z.string().nullable().describe('The query that was run, over `from` to `to`. Null for a tool without one.'),
    from: z.string().nullable(),
    to: z.string().nullable(),
    columns: z.array(
      z.object({
        name: z.string(),
        kind: z
          .enum(['value', 'count', 'countDistinct', 'sum', 'least', 'greatest', 'other'])
          .describe('`other`: an expression or constant of the query itself, which cannot be cited.'),
      }),
    ),
    rows: z.array(
      z.object({
        rowId: z.string(),
        time: z.string().nullable(),
        fields: z.record(z.string(), z.string()),
        eventIds: z.array(z.string()).optional(),
      }),
    ),
    total: z.number().int(),
    truncated: z.boolean(),
    hasEvents: z.boolean().nullable().describe('Whether the source has events in that time. Null if unknown.'),
    source: z
      .enum(['events', 'records', 'reference', 'outside'])
      .describe(
        '`events`: the logs. `records`: notes, lists and hits of the organization. `reference`: what the product ships. `outside`: anyone else.',
      ),
    isTrusted: z.boolean().describe('An administrator marked the results of the tool as trusted.'),
    at: z.string(),
    ms: z.number(),
    hash: z.string().describe('SHA-256 of the rows.'),
  })
  .meta({ id: 'Observation' });
