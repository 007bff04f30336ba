import { severities, type Candidate, type Severity } from './candidate.ts';
import { mapInSteps, type Steps } from '../../platform/lib/concurrency/slices.ts';
import type { AnalysisWindow } from './analysis-definition.ts';
import type { Day, WorkingHours } from './tuning/working-hours.schema.ts';

const weekdays: readonly Day[] = ['mon', 'tue', 'wed', 'thu', 'fri'];
const dayNames: readonly Day[] = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/**
 * Applies `tuning.workingHours` to candidates: sets the fact `outsideWorkingHours`, raises the severity of candidates with a row outside,
 * unless the author set it, or leaves out candidates. A row without a time counts at the window's start.
 */
export function* applyWorkingHours(
  candidates: readonly Candidate[],
  hours: WorkingHours,
  window: Pick<AnalysisWindow, 'from'>,
): Steps<Candidate[]> {
  const isWithin = compileWorkingHours(hours);
  const apply = (candidate: Candidate): Candidate[] => {
    const within = candidate.rows.map(({ time }) => isWithin(time === null ? window.from : new Date(time)));
    const outsideWorkingHours = within.includes(false);
    if (hours.effect === 'outside_only' && !outsideWorkingHours) return [];
    if (hours.effect === 'inside_only' && !within.includes(true)) return [];
    const isRaised =
      (hours.effect ?? 'raise') === 'raise' && outsideWorkingHours && !('authorSeverity' in candidate.facts);
    return [
      {
        ...candidate,
        severity: isRaised ? raise(candidate.severity) : candidate.severity,
        facts: { ...candidate.facts, outsideWorkingHours },
      },
    ];
  };
  return (yield* mapInSteps(candidates, apply)).flat();
}

function raise(severity: Severity): Severity {
  const index = severities.indexOf(severity);
  const high = severities.indexOf('high');
  return index >= high ? severity : severities[index + 1]!;
}

/** Returns a function that reports whether a time is within the working hours. Follows the daylight saving time of the zone. */
export function compileWorkingHours({ timeZone, days, from, to }: WorkingHours): (at: Date) => boolean {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const working = new Set<Day>(days ?? weekdays);
  return (at) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
    const day = parts['weekday']!.toLowerCase() as Day;
    const time = `${parts['hour']}:${parts['minute']}`;
    if (from < to) return working.has(day) && time >= from && time < to;
    const dayBefore = dayNames[(dayNames.indexOf(day) + 6) % 7]!;
    return (working.has(day) && time >= from) || (working.has(dayBefore) && time < to);
  };
}
