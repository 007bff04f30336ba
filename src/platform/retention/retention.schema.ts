import { z } from 'zod';
import { text } from '../lib/text/bounded-text.ts';

const valueMin = 3;

export const EraseRequest = z.strictObject({
  field: text({ min: 1, max: 255 }).describe('Name of the field in logs, with dots into objects.'),
  value: text({ min: valueMin, max: 4000 }).describe(
    'Exactly as logs have it. Events with it in the field lose it wherever it stands in them; all that was made of events loses it too.',
  ),
});
export type EraseRequest = z.infer<typeof EraseRequest>;

export const Erasure = z.object({
  logs: z.int().describe('Events.'),
  hits: z.int(),
  rows: z.int().describe('Candidates with their rows and verdicts.'),
  runs: z.int(),
  steps: z.int(),
  memory: z.int(),
  outbox: z.int(),
  exceptions: z.int(),
  tests: z.int(),
});
export type Erasure = z.infer<typeof Erasure>;
