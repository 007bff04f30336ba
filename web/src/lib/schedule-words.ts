const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const isNumber = (field: string | undefined): field is string => /^\d{1,2}$/.test(field ?? '');
const twoDigits = (field: string): string => field.padStart(2, '0');

/** Puts a simple cron expression in UTC into words: `Every day at 06:30 UTC`. Returns undefined for all others. */
export function toScheduleWords(cron: string): string | undefined {
  const [minute, hour, dayOfMonth, month, weekday] = cron.trim().split(/\s+/);
  if (!isNumber(minute) || dayOfMonth !== '*' || month !== '*') return undefined;
  const every = /^\*\/(\d{1,2})$/.exec(hour ?? '')?.[1];
  const past = minute === '0' ? '' : `, ${minute} min past`;
  if (weekday === '*' && hour === '*') return `Every hour${past}`;
  if (weekday === '*' && every) return `Every ${every} hours${past}`;
  if (!isNumber(hour)) return undefined;
  const at = `at ${twoDigits(hour)}:${twoDigits(minute)} UTC`;
  if (weekday === '*') return `Every day ${at}`;
  return /^[0-7]$/.test(weekday ?? '') ? `Every ${days[Number(weekday)]} ${at}` : undefined;
}
