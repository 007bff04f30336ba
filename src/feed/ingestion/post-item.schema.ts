import { z } from 'zod';
import { Instant } from '../../platform/lib/schema-parts.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { FeedItemDetail } from '../model/item.schema.ts';
import { parseInstant } from '../model/source-record.ts';
import { TlpInput } from '../model/vocabulary.ts';

const textMaxBytes = 1024 * 1024;
const fileMaxBytes = 15 * 1024 * 1024;
/** The largest body: base64 writes three bytes as four characters, and JSON may escape one byte of a text as six. */
export const postItemBodyMax = Math.ceil((fileMaxBytes * 4) / 3) + 4 * 1024 * 1024;

/** Whether a text is short enough for an item. */
export const isShortEnough = (text: string): boolean => Buffer.byteLength(text) <= textMaxBytes;
export const tooLongText = `must have at most ${textMaxBytes} bytes in UTF-8`;

const File = z.strictObject({
  name: boundedString({ min: 1, max: 255 }).describe('Name of the file, with its extension.'),
  content: z
    .base64()
    .min(1)
    .max(Math.ceil(fileMaxBytes / 3) * 4, `must have at most ${fileMaxBytes} bytes`)
    .describe('The bytes in base64, at most 15 MiB.'),
});

export const PostItem = z
  .strictObject({
    text: z
      .string()
      .refine((text) => text.trim() !== '', 'must not be blank')
      .refine(isShortEnough, tooLongText)
      .optional()
      .describe('The report, at most 1 MiB in UTF-8. Give either this or `file`.'),
    file: File.optional().describe(
      'A PDF, an e-mail (`.eml` or `.msg`), an HTML page or a text. Its text is read, and the file is not kept.',
    ),
    title: boundedString({ min: 1, max: 300 })
      .optional()
      .describe("Default: the title or subject of the file, else the text's first line."),
    publisher: boundedString({ min: 1, max: 200 })
      .optional()
      .describe('Default: the site of `sourceUrl`, else the name of the organization.'),
    publishTime: Instant.or(z.iso.date())
      .refine((text) => parseInstant(text) !== undefined, 'must be between the years 100 and 4500')
      .optional()
      .describe(
        'RFC 3339, or a date alone. Default: the date of an e-mail, else that in the opening lines or in `sourceUrl`.',
      ),
    sourceUrl: boundedString(
      { max: 2_000 },
      z.url({ protocol: /^https?$/, message: 'must begin with http:// or https://' }),
    )
      .refine(
        (url) => !URL.parse(url)?.username && !URL.parse(url)?.password,
        'must not contain a user name or password',
      )
      .optional()
      .describe('Where the text was published. It is not fetched.'),
    tlp: TlpInput.optional().describe('Default AMBER.'),
  })
  .refine(({ text, file }) => (text === undefined) !== (file === undefined), {
    path: ['text'],
    message: 'needs either `text` or `file`',
  });
export type PostItem = z.infer<typeof PostItem>;

/** The item of a posted report, with what was not read of its file. */
export const PostedItem = FeedItemDetail.extend({
  warnings: z
    .array(z.object({ code: z.literal('attachment_not_read'), message: z.string() }))
    .optional()
    .describe(
      'The attachments of an e-mail that could not be read, at most 20. Absent if all were. Images are never read.',
    ),
}).meta({ id: 'PostedItem' });
export type PostedItem = z.infer<typeof PostedItem>;
