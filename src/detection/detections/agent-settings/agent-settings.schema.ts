import { z } from 'zod';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';

const namesMax = 200;
const partsMax = 8;

const fieldName = boundedString({ min: 1, max: 255 }).refine(
  (name) => name.split('.').every((part) => part !== '') && name.split('.').length <= partsMax,
  `must be a field name with at most ${partsMax} parts between dots`,
);

const fields = {
  defaultToolNames: z
    .array(boundedString({ min: 1, max: 100 }))
    .max(50)
    .nullable()
    .describe(
      '`toolNames` of a new detection whose request has none. Null: no tools, and the console proposes those that only read.',
    ),
  hiddenDatasets: z
    .array(boundedString({ min: 1, max: 255 }))
    .max(namesMax)
    .describe('Datasets that no tool describes or searches for a model. Case does not matter.'),
  hiddenFields: z
    .array(fieldName)
    .max(namesMax)
    .describe(
      'Fields that no model sees: names as in the logs, with dots for keys inside of objects, in every dataset. A field hides what is below it. Case does not matter.',
    ),
  auditPercent: z
    .number()
    .min(0)
    .max(100)
    .describe(
      'Percentage of the dismissals of a detection and day that are judged again, at least one and at most 100 of them. 0 turns the audit off. Default: 2.',
    ),
};

/** Absent fields stay as they are. */
export const ChangeAgentSettings = z.strictObject(fields).partial();
export type ChangeAgentSettings = z.infer<typeof ChangeAgentSettings>;

export const AgentSettings = z
  .object({ ...fields, updatedAt: z.string().nullable().describe('When a setting changed last. Null: never.') })
  .describe('What agents of the organization may use.')
  .meta({ id: 'AgentSettings' });
export type AgentSettings = z.infer<typeof AgentSettings>;
