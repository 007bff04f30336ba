import { z } from 'zod';
import type { ToolDefinition } from './tool-definition.ts';

const Input = z.strictObject({
  value: z.string().min(3).max(2_000).describe('A complete IP address, domain, URL, hash or other indicator.'),
});

export const lookupIndicator: ToolDefinition<z.infer<typeof Input>> = {
  description: 'Returns what the threat feed knows about an indicator: its status and the items that mention it.',
  input: Input,
  effect: 'read',
  origin: 'outside',
  run: ({ value }, { lookupIndicator: lookup }) => lookup(value),
};
