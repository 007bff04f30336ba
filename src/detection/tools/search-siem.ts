import { z } from 'zod';
import type { ToolDefinition } from './tool-definition.ts';

const Input = z.strictObject({
  query: z.string().min(1).max(5_000).describe("A query in the language of the detection's own query."),
  hours: z.int().min(1).max(168).default(24).describe('How many hours before the end of the window to search.'),
});

/** Returns rows of any entity, so a detection with this tool is no longer limited to one entity. */
export const searchSiem: ToolDefinition<z.infer<typeof Input>> = {
  description: 'Runs a read-only query on the same logs. Returns at most 100 rows.',
  input: Input,
  effect: 'read',
  origin: 'outside',
  run: ({ query, hours }, { searchSiem: search }, signal) => search(query, hours, signal),
};
