import { z } from 'zod';
import type { ToolDefinition } from './tool-definition.ts';

const Input = z.strictObject({
  text: z.string().min(2).max(200).describe('Words to search for, such as a product, a CVE or a name. All must match.'),
  limit: z.int().min(1).max(20).default(5),
});

export const searchFeed: ToolDefinition<z.infer<typeof Input>> = {
  description:
    'Returns threat-intelligence items that contain these words in the title, summary or text, the best matches first.',
  input: Input,
  effect: 'read',
  origin: 'outside',
  run: ({ text, limit }, { searchFeed: search }) => search(text, limit),
};
