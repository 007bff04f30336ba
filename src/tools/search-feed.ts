import { z } from 'zod';
import type { Tool } from './tool.ts';

const Input = z.strictObject({
  text: z.string().min(2).max(200).describe('Words of a title, e.g. a product, a CVE or a name.'),
  limit: z.int().min(1).max(20).default(5),
});

export const searchFeed: Tool<z.infer<typeof Input>> = {
  description: 'Threat-intelligence items of the feed whose title has these words.',
  input: Input,
  effect: 'read',
  run: ({ text, limit }, { searchFeed: search }) => search(text, limit),
};
