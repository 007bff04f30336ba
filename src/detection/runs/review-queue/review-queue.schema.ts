import { z } from 'zod';
import { PageQuery } from '../../../platform/lib/page-request.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import { ActorField } from '../../../platform/orgs/orgs.schema.ts';
import { severities } from '../../analysis/candidate.ts';
import { detectionCategories } from '../../analysis/registry.ts';
import { TestCase } from '../../detections/test-cases.schema.ts';
import { Claims, Evidence, ObservationRecord, verdictShape } from '../../verdicts/verdicts.schema.ts';
import { caseKinds, caseStates } from '../judging/review-cases.store.ts';

const time = z.string().describe('ISO 8601, UTC, with milliseconds.');

export const CasePath = z.object({ id: z.guid('must be a UUID').toLowerCase() });

export const CaseFilter = PageQuery.extend({
  state: z.enum(caseStates).optional().describe('Default: `open`.'),
  kind: z.enum(caseKinds).optional(),
  detection: z.guid('must be a UUID').toLowerCase().optional().describe('ID of the detection.'),
  entity: boundedString({ max: 1000 }).optional().describe('Exact name of the entity.'),
});
export type CaseFilter = z.infer<typeof CaseFilter>;

export const ReviewCase = z
  .object({
    id: z.string(),
    kind: z
      .enum(caseKinds)
      .describe(
        '`undecided`: the judge could not decide, and the detection has `onUndecided: review`. `audit`: the judge dismissed it, and it belongs to the sample that is looked at again.',
      ),
    state: z
      .enum(caseStates)
      .describe(
        '`raised`: it became a hit. `dismissed`: it is harmless. `expired`: nobody decided in time. `outdated`: its window no longer contains it.',
      ),
    detectionId: z.string(),
    detectionName: z.string(),
    entity: z.string(),
    entityType: z.string(),
    category: z.enum(detectionCategories),
    severity: z.enum(severities).describe('Severity of its facts.'),
    confidence: verdictShape.confidence,
    verdict: verdictShape.verdict.describe('What the judge concluded.'),
    headline: z.string(),
    summary: z.string(),
    openQuestion: verdictShape.openQuestion,
    claims: Claims,
    evidence: Evidence,
    nextStep: z.string(),
    runId: z.string().describe('The run that judged it.'),
    windowFrom: time,
    windowTo: time,
    openedAt: time,
    expiresAt: time.describe('When an undecided case becomes a hit, and a dismissal leaves the audit.'),
    decidedAt: time.nullable(),
    keyId: z.string().nullable().describe('API key that decided.'),
    actor: ActorField,
    reason: z.string().nullable().describe('Why it was decided so.'),
    hitId: z.string().nullable().describe('The hit that it became.'),
    second: z
      .object({
        alias: z.string(),
        verdict: verdictShape.verdict,
        confidence: z.number(),
        summary: z.string(),
      })
      .nullable()
      .describe('What another model alias concluded about an audited dismissal. Null if none has judged it.'),
    url: z.string().describe('Path of the case in the console.'),
  })
  .meta({ id: 'ReviewCase' });
export type ReviewCase = z.infer<typeof ReviewCase>;

export const CaseList = z.object({ cases: z.array(ReviewCase), nextCursor: z.string().nullable() });
export type CaseList = z.infer<typeof CaseList>;

export const CaseDetail = ReviewCase.extend({
  facts: z.record(z.string(), z.unknown()).describe('Facts computed from the rows: counts, history, peers.'),
  observations: z
    .array(ObservationRecord)
    .describe(
      "What the verdict cites, oldest first: `rows`, the result of the detection's own query, and the observations of the investigation.",
    ),
  testCase: TestCase.nullable().describe(
    'Of a dismissal that was wrong: a test case that expects the hit, for `PUT /api/detections/{id}/tests`. Null otherwise.',
  ),
});
export type CaseDetail = z.infer<typeof CaseDetail>;

export const Dismissals = z.object({
  days: z.int().describe('The figures are of this many days before now.'),
  dismissals: z.int().describe('What judges dismissed on ended UTC days.'),
  sampled: z.int().describe('How many of them the audit sampled.'),
  open: z.int().describe('How many of these nobody has decided yet: `GET /api/review-cases?kind=audit`.'),
  audited: z.int().describe('How many were decided.'),
  wrong: z
    .int()
    .describe('How many of these were raised, without those whose hit people judged as benign or false positive.'),
  boundPercent: z
    .number()
    .nullable()
    .describe('Upper bound of the share of wrong dismissals that the audited sample allows. Null without a sample.'),
  confidencePercent: z.number().describe('The share is below the bound with this probability.'),
  verifiedBy: z
    .string()
    .nullable()
    .describe(
      "Model alias that judges the sample again. Null: no other alias than the detection's own does, so that people must.",
    ),
  statement: z.string().describe('The bound in one sentence.'),
});
export type Dismissals = z.infer<typeof Dismissals>;

export const CaseDecision = z.strictObject({
  decision: z.enum(['raise', 'dismiss']).describe('`raise`: it becomes a hit. `dismiss`: it is harmless.'),
  reason: boundedString({ min: 1, max: 2000 }).describe('Why. Later verdicts on the entity can cite it.'),
});
export type CaseDecision = z.infer<typeof CaseDecision>;
