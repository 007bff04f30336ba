import { z } from 'zod';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';

const rulesCharsMax = 24 * 1024 * 1024;

export const ConvertRequest = z.strictObject({
  rules: boundedString({ min: 1, max: rulesCharsMax }).describe('Sigma rules as YAML, any number of documents.'),
  target: boundedString({ min: 1, max: 100 })
    .optional()
    .describe('`local`, which is the default, or the id of a connection.'),
  allowUnknown: z
    .boolean()
    .optional()
    .describe('true: convert rules of unknown log sources as well. They match events of other log sources, too.'),
});
export type ConvertRequest = z.infer<typeof ConvertRequest>;

const RuleErrors = z.array(z.object({ line: z.int(), message: z.string() }));

export const ConvertResult = z.object({
  results: z
    .array(
      z.object({
        id: z.string().nullable(),
        title: z.string().nullable(),
        kind: z.enum(['rule', 'filter', 'correlation']).nullable(),
        status: z.enum(['converted', 'unsupported', 'invalid']),
        query: z.string().nullable(),
        dataset: z.string().nullable(),
        warnings: z.array(z.string()),
        errors: RuleErrors.describe('Lines count from 1 within `rules`.'),
      }),
    )
    .describe('One result for each document, in the order of the request.'),
});
export type ConvertResult = z.infer<typeof ConvertResult>;
