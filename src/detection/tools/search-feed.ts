import { z } from 'zod';
import type { Tool } from './tool.ts';

const Input = z.strictObject({
  text: z.string().min(2).max(200).describe('Words, e.g. a product, a CVE or a name; all must be there.'),
  limit: z.int().min(1).max(20).default(5),
});

export const searchFeed: Tool<z.infer<typeof Input>> = {
  description: 'Threat-intelligence items of the feed that have these words in title, summary or text.',
  input: Input,
  effect: 'read',
  run: ({ text, limit }, { searchFeed: search }) => search(text, limit),
};
