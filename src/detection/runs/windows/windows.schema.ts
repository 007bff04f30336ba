import { z } from 'zod';
import { Instant } from '../../../platform/lib/schema-parts.ts';

const time = z.string().meta({ format: 'date-time' });

export const WindowsQuery = z.object({
  from: Instant.optional().describe('Default: 30 days before `to`.'),
  to: Instant.optional().describe('Default: now. The range must be at most 366 days.'),
});
export type WindowsQuery = z.infer<typeof WindowsQuery>;

export const windowStates = ['covered', 'pending', 'gap', 'filling', 'expired'] as const;

export const WindowList = z.object({
  from: time,
  to: time,
  coverageFrom: time.nullable().describe('Start of the first window. Null if the detection never had a schedule.'),
  plannedTo: time.nullable().describe('End of the last planned window.'),
  nextRunAt: time.nullable(),
  windows: z
    .array(
      z.object({
        from: time,
        to: time,
        state: z
          .enum(windowStates)
          .describe(
            '`covered`: examined. `pending`: planned but not yet examined. `gap`: not examined. `filling`: a backfill is examining it. `expired`: a gap whose logs are no longer retained.',
          ),
        reason: z
          .string()
          .nullable()
          .describe('Why a gap was not examined, or the kind of the failure that a pending window waits for.'),
        detail: z.string().nullable(),
        gapId: z.string().nullable(),
        runAt: time.nullable().describe('Slot of the run that examines a pending window.'),
      }),
    )
    .describe('In order, without overlap, cut to the range. Adjacent covered time is one window.'),
  isComplete: z.boolean().describe('false: the range has more than 2000 windows, and the newest are listed.'),
});
export type WindowList = z.infer<typeof WindowList>;
