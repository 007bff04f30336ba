import { z } from 'zod';
import { indicatorStatuses, itemStatuses, severities } from './vocabulary.ts';

export const Instant = z.string().describe('RFC 3339, UTC.');

/** Ranked from lowest to highest. `exposed`: an active indicator of the item was seen in the organization's logs. */
export const verdicts = ['irrelevant', 'relevant', 'exposed'] as const;

export const RelevanceReason = z.object({
  kind: z
    .string()
    .describe(
      '`product`, `vendor`, `keyword`, `sector`, `region`, `platform`, `name`, `technique`, `value`, `indicator`, `person` or `model`.',
    ),
  matched: z.string(),
  weight: z.number().min(0).max(1),
  evidenceRef: z.string().optional().describe('A reference such as `provenance.supportingPassages[0]`.'),
  requirement: z.string().optional().describe('The requirement of the profile that the reason is for.'),
});
export type RelevanceReason = z.infer<typeof RelevanceReason>;

export const OverriddenIndicator = z.object({
  type: z.string(),
  value: z
    .string()
    .describe(
      'The `normalizedValue` of an indicator of the item, or the canonical form of another value, such as a network.',
    ),
  status: z.enum(indicatorStatuses),
});
export type OverriddenIndicator = z.infer<typeof OverriddenIndicator>;

/** The calling organization's overrides of an item. No other organization sees them. */
export const TenantOverrides = z
  .object({
    relevance: z
      .object({
        verdict: z.enum(verdicts),
        score: z.number().min(0).max(1),
        reasons: z.array(RelevanceReason),
        judgedBy: z.string().describe('`rules`, `logs`, `person` or `threat-relevancy`.'),
        judgedAt: Instant,
      })
      .optional(),
    severity: z.enum(severities).optional(),
    status: z.enum(itemStatuses).optional(),
    indicators: z.array(OverriddenIndicator).optional(),
    tags: z.array(z.string()).optional(),
    note: z.string().optional(),
    updatedAt: Instant,
    revision: z
      .string()
      .describe(
        'Changes with what people of the organization decide: in quotes, the `If-Match` of a change. `0` if they decided nothing.',
      ),
    updatedBy: z.string().optional().describe('The API key that made the last change.'),
    actor: z
      .string()
      .optional()
      .describe('The person or key that signed in, if the last change was made with a session of the console.'),
  })
  .meta({ id: 'TenantOverrides' });
export type TenantOverrides = z.infer<typeof TenantOverrides>;
