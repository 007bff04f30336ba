import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { ActorField } from '../../platform/orgs/orgs.schema.ts';
import { timeMax, revisionInput } from '../../platform/lib/schema-parts.ts';
import { ValueListName } from '../analysis/tuning.schema.ts';

const valuesMax = 10_000;

export const ValueListPath = z.object({ name: ValueListName });

export const ValueListInput = z.strictObject({
  description: boundedString({ max: 1_000 }).default(''),
  values: z
    .array(boundedString({ min: 1, max: 500 }))
    .max(valuesMax)
    .describe(
      'Exact values, patterns in which `*` stands for any text, and networks such as `10.0.0.0/8`. Case does not matter. Repeats are dropped.',
    ),
  expectedRevision: revisionInput(
    timeMax,
    'The `revision` that the change is based on, and 0 for a list that does not exist. If it is not the current one, the answer is 409, and `stale` lists what changed. Absent: replaces any list.',
  ),
});
export type ValueListInput = z.infer<typeof ValueListInput>;

const summary = {
  name: z.string(),
  description: z.string(),
  valuesTotal: z.number().int(),
  usedBy: z.array(z.string()).describe('IDs of the detections whose tuning specifies the list.'),
  keyId: z.string().nullable().describe('API key that wrote the list last.'),
  actor: ActorField,
  updatedAt: z.string(),
  revision: z.number().int().describe('Increases with every change of the list.'),
};

export const ValueList = z.object({ ...summary, values: z.array(z.string()) }).meta({ id: 'ValueList' });
export type ValueList = z.infer<typeof ValueList>;

export const ValueLists = z.object({ lists: z.array(z.object(summary)) });
export type ValueLists = z.infer<typeof ValueLists>;
