import { z } from 'zod';
import { uuidPattern } from '../../lib/org-id.ts';

const Reason = z
  .string()
  .refine((text) => text.trim() !== '' && [...text].length <= 1_000, 'must have 1 to 1000 characters')
  .refine((text) => !text.includes('\u0000') && text.isWellFormed(), 'must be text without U+0000 and lone surrogates')
  .meta({ minLength: 1, maxLength: 1_000 });

export const MergeItem = z.strictObject({
  into: z.string().regex(uuidPattern, 'must be a UUID').describe('The item whose story it tells.'),
});
export const RetractItem = z.strictObject({ reason: Reason });
