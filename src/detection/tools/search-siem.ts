import { z } from 'zod';
import type { Tool } from './tool.ts';

const Input = z.strictObject({
  query: z.string().min(1).max(5_000).describe("In the language of the detection's own query."),
  hours: z.int().min(1).max(168).default(24).describe('How far before the end of the window to look.'),
});

/** Shows rows of any entity: a detection that has it gives up that it sees one entity only. */
export const searchSiem: Tool<z.infer<typeof Input>> = {
  description: 'Runs a read-only query on the same logs; at most 100 rows.',
  input: Input,
  effect: 'read',
  run: ({ query, hours }, { searchSiem: search }, signal) => search(query, hours, signal),
};
