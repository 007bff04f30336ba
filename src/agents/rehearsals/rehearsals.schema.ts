import { z } from 'zod';
import { indicatorKinds } from './indicator-events.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';

const time = z.string().meta({ format: 'date-time' });
const Detections = z.array(z.object({ id: z.string(), name: z.string() }));

/** What the last rehearsal of a technique showed. */
export const RehearsalResult = z.object({
  state: z
    .enum(['fired', 'did_not_fire', 'no_data'])
    .describe('`no_data`: no dataset has had events in which the attack would show.'),
  at: time,
  events: z.int().describe('Synthetic events of the attack.'),
  datasets: z.array(z.string()).describe('The datasets in whose form the events were made.'),
  sources: z.array(z.string()).describe('The kinds of logs in which the attack can be rehearsed.'),
  firedBy: Detections.describe('Enabled detections that would have raised a hit, at most 20.'),
  mutedBy: Detections.describe(
    'Enabled detections that found it, but an exception or an allow-list hid it, at most 20.',
  ),
});
export type RehearsalResult = z.infer<typeof RehearsalResult>;

export const Rehearsal = z
  .object({ technique: z.string(), name: z.string(), ...RehearsalResult.shape })
  .meta({ id: 'Rehearsal' });
export type Rehearsal = z.infer<typeof Rehearsal>;

export const RehearsalList = z.object({
  rehearsals: z.array(Rehearsal).describe('By technique.'),
  failures: z
    .array(z.object({ id: z.string(), name: z.string(), failure: z.string() }))
    .describe('Enabled detections whose query failed on the events, at most 100.'),
});
export type RehearsalList = z.infer<typeof RehearsalList>;

export const RehearseInput = z
  .strictObject({
    technique: z
      .string()
      .regex(/^[Tt]\d{4}(\.\d{3})?$/, 'must be the ID of an ATT&CK technique, such as T1059.001')
      .optional()
      .describe('A technique. Its sub-techniques are rehearsed as well.'),
    itemId: z
      .string()
      .regex(uuidPattern, 'must be a UUID')
      .optional()
      .describe(
        'An item of the feed. The techniques that it mentions and its own indicators are rehearsed. Requires the scope `feed:read`.',
      ),
  })
  .refine(({ technique, itemId }) => (technique === undefined) !== (itemId === undefined), {
    message: 'must have either technique or itemId',
  });
export type RehearseInput = z.infer<typeof RehearseInput>;

export const RehearsalRun = z
  .object({
    rehearsals: z.array(Rehearsal),
    indicators: z
      .array(
        z.object({
          kind: z.enum(indicatorKinds),
          ...RehearsalResult.omit({ at: true, sources: true }).shape,
        }),
      )
      .describe(
        'Active indicators of the item by their kind, at most 10 of each, in the fields of your logs in which the search for sightings would find them. They are not stored.',
      ),
    notRehearsable: z.array(z.string()).describe('Techniques for which no attack is shipped.'),
    complete: z
      .boolean()
      .describe('false: not every detection was tried within a minute. The others are rehearsed at night.'),
  })
  .meta({ id: 'RehearsalRun' });
export type RehearsalRun = z.infer<typeof RehearsalRun>;
