import { z } from 'zod';
import { bucketByType, tlps } from '../model/vocabulary.ts';
import { text } from '../../platform/lib/text/bounded-text.ts';

const whole = (max: number) =>
  z
    .string()
    .regex(/^0*[1-9]\d*$/, 'must be a positive integer')
    .refine((text) => Number(text) <= max, `must be at most ${max}`);

const relevancyMode = z.enum(['relevant', 'all']).default('all');

/** Of every export in pages. Names that are not known are passed over, as in `GET /items`. */
export const ExportQuery = z.object({
  limit: whole(500).default('200'),
  after: text({ max: 200 }).optional(),
  maxTlp: z.enum(tlps).optional(),
  relevancyMode,
});
export type ExportQuery = z.infer<typeof ExportQuery>;

/** Of the index of the MISP feed, which holds no content. */
export const ManifestQuery = ExportQuery.extend({ limit: whole(10_000).default('10000') });

const known: ReadonlySet<string> = new Set(Object.keys(bucketByType));

export const BlocklistQuery = z
  .object({
    type: text({ max: 500 }).refine(
      (text) => text.split(',').every((type) => known.has(type)),
      'must name types of indicators, such as ipv4,domain',
    ),
    minConfidence: z
      .string()
      .regex(/^(?:0(?:\.\d{1,4})?|1(?:\.0{1,4})?)$/, 'must be a number from 0 to 1')
      .default('0.5'),
    format: z.enum(['plain', 'hosts']).default('plain'),
    limit: whole(500_000).default('100000'),
    maxTlp: z.enum(tlps).optional(),
    relevancyMode,
  })
  .refine(({ format, type }) => format !== 'hosts' || type === 'domain', {
    path: ['format'],
    message: 'hosts is for the type domain alone',
  });
export type BlocklistQuery = z.infer<typeof BlocklistQuery>;
