import { z } from 'zod';
import type { Tool } from './tool.ts';

const Input = z.strictObject({
  value: z.string().min(3).max(2_000).describe('An address, domain, URL, hash or the like, in whole.'),
});

export const lookupIndicator: Tool<z.infer<typeof Input>> = {
  description: 'What the feed says of this indicator: its status and the items that name it.',
  input: Input,
  effect: 'read',
  run: ({ value }, { lookupIndicator: lookup }) => lookup(value),
};
