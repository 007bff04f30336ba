import { z } from 'zod';
import { defineTool } from './tool-definition.ts';
import { createResult } from './tool-result.ts';

const text = (max: number, description: string) => z.string().min(1).max(max).describe(description);
const reason = text(1_000, 'Why, in one or two sentences.');

const shared = { effect: 'propose', source: 'reference', seesOtherEntities: false, findUrlProblem: null } as const;

export const proposeException = defineTool({
  description:
    'Proposes that the detection of the hit ignores an entity, or rows with a value of a field. A person decides about it later.',
  input: z.strictObject({
    entity: text(1_000, 'The entity. `*` stands for any text.').optional(),
    field: text(255, 'A field of the rows. Needs `value`.').optional(),
    value: text(4_000, 'The value of the field. `*` stands for any text.').optional(),
    reason,
  }),
  ...shared,
  run: async (input, { propose }) => createResult({ note: await propose('propose_exception', input, input.reason) }),
});

export const proposeDetection = defineTool({
  description:
    'Proposes a detection that would find such behavior in the future. Try the query with search_logs before. A person decides about it later.',
  input: z.strictObject({
    name: text(255, 'What it finds.'),
    detectionCategory: z.enum(['custom', 'first_occurrence', 'baseline_anomaly']),
    detectionQuery: text(10_000, 'The query, without a limit of time: each run adds its own window.'),
    systemPrompt: text(10_000, 'How to judge what it finds.'),
    reason,
  }),
  ...shared,
  run: async ({ reason: rationale, ...detection }, { propose }) =>
    createResult({ note: await propose('propose_detection', { ...detection, rationale }, rationale) }),
});
