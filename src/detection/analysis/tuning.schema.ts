import { z } from 'zod';
import { days, TimeOfDay, TimeZone } from '../../platform/lib/schema-parts.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { severities } from './candidate.ts';

export const ValueListName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_.-]{0,99}$/, 'must be 1 to 100 lower-case letters, digits, dots, dashes or underscores')
  .describe('Name of a value list.');

export const sensitivities = ['low', 'medium', 'high'] as const;
export type Sensitivity = (typeof sensitivities)[number];

export const WorkingHours = z
  .strictObject({
    timeZone: TimeZone,
    days: z.array(z.enum(days)).min(1).max(7).optional().describe('Working days. Default: mon to fri.'),
    from: TimeOfDay.describe('Start of the working hours, such as `08:00`.'),
    to: TimeOfDay.describe('End of the working hours. If it is not later than `from`, they end on the next day.'),
    effect: z
      .enum(['raise', 'outside_only', 'inside_only'])
      .optional()
      .describe(
        'raise (default): a candidate with a row outside the working hours is one level more severe, at most high. outside_only: others are no candidates. inside_only: only candidates with a row within them remain.',
      ),
  })
  .describe('When people work.');
export type WorkingHours = z.infer<typeof WorkingHours>;

const SeverityRule = z
  .strictObject({
    field: boundedString({ min: 1, max: 255 }).describe('Field of the rows. Case does not matter.'),
    value: boundedString({ min: 1, max: 500 })
      .optional()
      .describe('Value of the field, as a hit shows it. Case does not matter, and `*` stands for any text.'),
    list: ValueListName.optional().describe('Value list that has the value of the field.'),
    severity: z
      .enum(['raise', 'lower', ...severities])
      .describe('The severity of the candidate, or `raise` or `lower` by one level.'),
  })
  .refine(({ value, list }) => (value === undefined) !== (list === undefined), {
    message: 'a rule needs either value or list',
    path: ['value'],
  });
export type SeverityRule = z.infer<typeof SeverityRule>;

/** Settings of the analysis that an author can change. Everything is optional. The categories have the defaults. */
export const Tuning = z
  .strictObject({
    minimumCount: z
      .number()
      .min(0)
      .max(1e12)
      .optional()
      .describe(
        'Smallest number that is a candidate: the compared number of a baseline, the completed sequences, otherwise the rows.',
      ),
    sensitivity: z
      .enum(sensitivities)
      .optional()
      .describe(
        'How unusual an anomaly, first occurrence or sequence must be. high: more and more severe candidates. low: fewer. Default: medium.',
      ),
    minimumIncrease: z
      .number()
      .min(0)
      .max(1e12)
      .optional()
      .describe('Smallest difference between the number of a baseline and its median. Default: 0.'),
    historyDays: z
      .int()
      .min(1)
      .max(182)
      .optional()
      .describe(
        'Days of history to compare with. Default: 30 for a first occurrence, 56 for a baseline, 182 if weekly.',
      ),
    minimumSpeedKmh: z
      .int()
      .min(1)
      .max(100_000)
      .optional()
      .describe(
        'Only entities that moved between two places at least this fast are candidates, in km/h, whether or not the places are new. An airliner flies at about 900.',
      ),
    peers: z
      .strictObject({
        by: boundedString({ min: 1, max: 200 })
          .optional()
          .describe(
            'Column that tells the group of an entity, such as its department, role or host class. The entities of a baseline are compared with their own group only. Default: with all.',
          ),
        minimum: z
          .int()
          .min(0)
          .max(1000)
          .optional()
          .describe(
            'A new value that so many other entities have shown is rated low, and so is an increase to a number that was reached so often. 0: neither is. Default: 3.',
          ),
      })
      .optional()
      .describe('With whom entities are compared, and how far the others excuse a candidate.'),
    workingHours: WorkingHours.optional(),
    allowLists: z
      .array(ValueListName)
      .max(10)
      .optional()
      .describe(
        'Names of value lists. A candidate whose entity is in one of them is not judged. The run counts them as `suppressed.allowed`.',
      ),
    severityRules: z
      .array(SeverityRule)
      .max(20)
      .optional()
      .describe(
        'Rules that set the severity of a candidate by its rows, after `workingHours`. The first one that matches applies: one that lowers the severity if every row has the value, any other if one row has it. The facts `severityRule`, `severityBefore` and `severityCell` show which it was.',
      ),
    sequenceHours: z
      .number()
      .min(0.1)
      .max(168)
      .optional()
      .describe('Longest time from the first to the last step of a sequence, in hours. Default: 24.'),
  })
  .describe(
    'Thresholds of the analysis. With {}, the defaults apply. A field that the category does not use is refused.',
  )
  .meta({ id: 'Tuning' });
export type Tuning = z.infer<typeof Tuning>;
