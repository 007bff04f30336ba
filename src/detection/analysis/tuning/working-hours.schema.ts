import { z } from 'zod';

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Day = (typeof days)[number];

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as 08:30');

export const WorkingHours = z
  .strictObject({
    timeZone: z
      .string()
      .max(100)
      .refine(isTimeZone, 'must be a time zone of the IANA database, such as Europe/Oslo')
      .describe('IANA time zone, such as `Europe/Oslo`.'),
    days: z.array(z.enum(days)).min(1).max(7).optional().describe('Working days. Default: mon to fri.'),
    from: timeOfDay.describe('Start of the working hours, such as `08:00`.'),
    to: timeOfDay.describe('End of the working hours. If it is not later than `from`, they end on the next day.'),
    effect: z
      .enum(['raise', 'outside_only', 'inside_only'])
      .optional()
      .describe(
        'raise (default): a candidate with a row outside the working hours is one level more severe, at most high. outside_only: others are no candidates. inside_only: only candidates with a row within them remain.',
      ),
  })
  .describe('When people work.');
export type WorkingHours = z.infer<typeof WorkingHours>;

function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
