import { z } from 'zod';
import { Instant } from '../../platform/lib/schema-parts.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { parseInstant } from '../model/source-record.ts';
import { TlpInput } from '../model/vocabulary.ts';

const textMaxBytes = 1024 * 1024;

export const PostItem = z.strictObject({
  text: z
    .string()
    .refine((text) => text.trim() !== '', 'must not be blank')
    .refine((text) => Buffer.byteLength(text) <= textMaxBytes, `must have at most ${textMaxBytes} bytes in UTF-8`)
    .describe('The report, at most 1 MiB in UTF-8.'),
  title: boundedString({ min: 1, max: 300 }).optional().describe("Default: the text's first line."),
  publisher: boundedString({ min: 1, max: 200 })
    .optional()
    .describe('Default: the site of `sourceUrl`, else the name of the organization.'),
  publishTime: Instant.or(z.iso.date())
    .refine((text) => parseInstant(text) !== undefined, 'must be between the years 100 and 4500')
    .optional()
    .describe('RFC 3339, or a date alone. Default: the date in the opening lines or in `sourceUrl`.'),
  sourceUrl: boundedString(
    { max: 2_000 },
    z.url({ protocol: /^https?$/, message: 'must begin with http:// or https://' }),
  )
    .refine((url) => !URL.parse(url)?.username && !URL.parse(url)?.password, 'must not contain a user name or password')
    .optional()
    .describe('Where the text was published. It is not fetched.'),
  tlp: TlpInput.optional().describe('Default AMBER.'),
});
export type PostItem = z.infer<typeof PostItem>;
