import { severities, type Candidate, type Severity } from './candidate.ts';
import { getCategory } from './registry.ts';
import type { AnalysisInput, Finding, WindowResult } from './category.ts';
import type { AnalysisDefinition, AnalysisWindow } from './analysis-definition.ts';
import { groupRows, type EntityGroup } from './rows/group-rows.ts';
import { computeRowId } from './rows/render-row.ts';
import {
  type MemoryEntry,
  type MemoryQuery,
  type RecalledMemory,
  learningWindows,
  type MemoryWindow,
} from './memory/memory.ts';
import type { QueryRow } from '../siem/connector.ts';
import { type Steps, mapInSteps } from '../../platform/lib/concurrency/slices.ts';
import { compareCodeUnits } from '../../platform/lib/text/canonical-text.ts';
import { compileSeverityRules } from './severity-rules.ts';
import { numberOf } from './wording.ts';
import type { ListTest } from './exceptions.ts';
import type { Day } from '../../platform/lib/schema-parts.ts';
import type { WorkingHours } from './tuning.schema.ts';

/** A window's grouped rows, with the memory to store and the memory query to run before the analysis. */
export type PreparedWindow = AnalysisInput & { memory: MemoryEntry[]; query: MemoryQuery };

/** Runs the first half of an analysis, before memory is read: groups the rows. Takes time linear in the rows. */
export function* prepareWindow(
  rows: readonly QueryRow[],
  window: AnalysisWindow,
  definition: AnalysisDefinition,
): Steps<PreparedWindow> {
  const groups = yield* definition.continuous && !window.aggregate
    ? groupEvents(rows, window, definition)
    : groupRows(rows, definition);
  const input = { groups, window, definition };
  const category = getCategory(definition.category);
  return { ...input, memory: yield* category.buildMemory(input), query: yield* category.buildMemoryQuery(input) };
}

/** Groups the rows of each event on its own, so that the groups of an event do not depend on which others are in the window. */
function* groupEvents(
  rows: readonly QueryRow[],
  window: AnalysisWindow,
  definition: AnalysisDefinition,
): Steps<EntityGroup[]> {
  const events = Map.groupBy(rows, (row) => computeRowId(row, window));
  const groups: EntityGroup[] = [];
  for (const ofEvent of events.values()) groups.push(...(yield* groupRows(ofEvent, definition)));
  return groups;
}

/**
 * Runs the second half: returns the candidates sorted by severity, z and count (highest first), then entity. `lists` are the value lists of the
 * severity rules.
 */
export function* analyzeWindow(
  prepared: PreparedWindow,
  past: RecalledMemory,
  lists: ReadonlyMap<string, ListTest> = new Map(),
): Steps<WindowResult> {
  const { groups, window, definition } = prepared;
  const category = getCategory(definition.category);
  const { findings, learning } = yield* category.findCandidates({ groups, window, definition, past });
  return { ...(yield* rankCandidates(prepared, findings, lists)), learning };
}

/** Returns the candidates in order. Counts what the tuning leaves out, whichever field does it. */
function* rankCandidates(
  { window, definition }: PreparedWindow,
  found: Finding[],
  lists: ReadonlyMap<string, ListTest>,
): Steps<Omit<WindowResult, 'learning'>> {
  const { workingHours, severityRules } = definition.tuning ?? {};
  const large = found.filter((finding) => finding !== 'belowMinimum');
  const candidates = workingHours ? yield* applyWorkingHours(large, workingHours, window) : large;
  const rated = severityRules ? yield* mapInSteps(candidates, compileSeverityRules(severityRules, lists)) : candidates;
  return {
    candidates: rated.toSorted(compareCandidates),
    dropped: { belowMinimum: found.length - large.length, workingHours: large.length - candidates.length },
  };
}

/** Returns the share of groups that a field identified, 0 to 1, or 1 without groups. An input of the run's score. */
export function computeNamedShare(groups: readonly EntityGroup[]): number {
  return groups.length === 0 ? 1 : groups.filter(({ isNamed }) => isNamed).length / groups.length;
}

function compareCandidates(a: Candidate, b: Candidate): number {
  return (
    severities.indexOf(b.severity) - severities.indexOf(a.severity) ||
    numberOf(b.facts, 'z') - numberOf(a.facts, 'z') ||
    numberOf(b.facts, 'count') - numberOf(a.facts, 'count') ||
    compareCodeUnits(a.entity, b.entity)
  );
}

const weekdays: readonly Day[] = ['mon', 'tue', 'wed', 'thu', 'fri'];
const dayNames: readonly Day[] = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/**
 * Applies `tuning.workingHours` to candidates: sets the fact `outsideWorkingHours`, raises the severity of candidates with a row outside,
 * unless the author set it, or leaves out candidates. A row without a time counts at the window's start.
 */
function* applyWorkingHours(
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

/**
 * Returns the windows to analyze again after the window `late` was examined out of order, sorted by start: every later window with `late`
 * in its lookback, and the window for which `late` completes the learning period. `examined` are the examined windows of the generation,
 * with or without `late`.
 */
export function findWindowsToRevisit(
  late: MemoryWindow,
  examined: readonly MemoryWindow[],
  definition: AnalysisDefinition,
): MemoryWindow[] {
  const { lookbackMs, usesHistory } = getCategory(definition.category);
  const lookback = lookbackMs(definition);
  const others = examined.filter((window) => window.from.getTime() !== late.from.getTime());
  const ends = [...others, late].map((window) => window.to.getTime());
  const seesLate = ({ from }: MemoryWindow): boolean => late.from.getTime() >= from.getTime() - lookback;
  const endsLearning = ({ from }: MemoryWindow): boolean => usesHistory && countEnded(ends, from) === learningWindows;
  return others
    .filter((window) => window.from >= late.to && (seesLate(window) || endsLearning(window)))
    .toSorted((a, b) => a.from.getTime() - b.from.getTime());
}

/** Counts the windows that ended by `time`, but no further than one above `learningWindows`. */
function countEnded(ends: readonly number[], time: Date): number {
  let count = 0;
  for (const end of ends) if (end <= time.getTime() && ++count > learningWindows) break;
  return count;
}
