import { z } from 'zod';
import { integerMeta } from '../../platform/lib/schema-parts.ts';
import { filterFields } from '../items/feed-filters.ts';
import { tlps } from '../model/vocabulary.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { isIndicatorType } from '../model/values/indicator-types.ts';

const positiveInteger = (max: number) =>
  z
    .string()
    .regex(/^0*[1-9]\d*$/, 'must be a positive integer')
    .refine((text) => Number(text) <= max, `must be at most ${max}`)
    .meta(integerMeta(1, max));

/** A limit with a default, which is text as all parameters are, and a number in the description of the API. */
const limit = (max: number, fallback: number) =>
  positiveInteger(max).default(String(fallback)).meta({ default: fallback });

/** The query string of a paged export. */
export const ExportQuery = z.object({
  limit: limit(500, 200),
  after: boundedString({ max: 200 }).optional(),
  maxTlp: z.enum(tlps).optional(),
  ...filterFields,
});
export type ExportQuery = z.infer<typeof ExportQuery>;

/** The query string of a MISP event: the filters that select values by name. */
export const EventQuery = z.object({
  actor: filterFields.actor,
  malware: filterFields.malware,
  tool: filterFields.tool,
});
export type EventQuery = z.infer<typeof EventQuery>;

/** The query string of the MISP manifest. It may be longer, since it has no content. */
export const ManifestQuery = ExportQuery.extend({ limit: limit(10_000, 10_000) });

export const BlocklistQuery = z
  .object({
    type: boundedString({ max: 500 })
      .refine(
        (text) => text.split(',').every((type) => isIndicatorType(type) || type === 'cidr'),
        'must be a comma-separated list of indicator types, such as ipv4,domain',
      )
      .describe('Indicator types, separated by commas, such as `ipv4,domain`. `cidr` are networks.'),
    minConfidence: z
      .string()
      .regex(/^(?:0(?:\.\d{1,4})?|1(?:\.0{1,4})?)$/, 'must be a number from 0 to 1')
      .default('0.5'),
    format: z.enum(['plain', 'hosts']).default('plain'),
    limit: limit(500_000, 100_000),
    maxTlp: z.enum(tlps).optional(),
    ...filterFields,
  })
  .refine(({ format, type }) => format !== 'hosts' || type === 'domain', {
    path: ['format'],
    message: 'must be plain unless type is domain',
  });
export type BlocklistQuery = z.infer<typeof BlocklistQuery>;
