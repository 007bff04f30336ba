import { severities, type Candidate } from './candidate.ts';
import { categories } from './registry.ts';
import type { AnalysisInput, Finding, WindowResult } from './category.ts';
import type { AnalysisDefinition, AnalysisWindow } from './analysis-definition.ts';
import { applyWorkingHours } from './working-hours.ts';
import { groupRows, type EntityGroup } from './rows/group-rows.ts';
import type { MemoryEntry, MemoryQuery, RecalledMemory } from './memory/memory.ts';
import type { QueryRow } from '../siem/connector.ts';
import type { Steps } from '../../platform/lib/concurrency/slices.ts';
import { compareCodeUnits } from '../../platform/lib/text/canonical-text.ts';

/** A window's grouped rows, with the memory to store and the memory query to run before the analysis. */
export type PreparedWindow = AnalysisInput & { memory: MemoryEntry[]; query: MemoryQuery };

/** Runs the first half of an analysis, before memory is read: groups the rows. Takes time linear in the rows. */
export function* prepareWindow(
  rows: readonly QueryRow[],
  window: AnalysisWindow,
  definition: AnalysisDefinition,
): Steps<PreparedWindow> {
  const input = { groups: yield* groupRows(rows, definition), window, definition };
  const category = categories[definition.category];
  return { ...input, memory: yield* category.buildMemory(input), query: yield* category.buildMemoryQuery(input) };
}

/** Runs the second half: returns the candidates sorted by severity, z and count (highest first), then entity. */
export function* analyzeWindow(prepared: PreparedWindow, past: RecalledMemory): Steps<WindowResult> {
  const { groups, window, definition } = prepared;
  const category = categories[definition.category];
  const { findings, learning } = yield* category.findCandidates({ groups, window, definition, past });
  return { ...(yield* rankCandidates(prepared, findings)), learning };
}

/** Returns the candidates in order. Counts what the tuning leaves out, whichever field does it. */
function* rankCandidates(
  { window, definition }: PreparedWindow,
  found: Finding[],
): Steps<Omit<WindowResult, 'learning'>> {
  const { workingHours } = definition.tuning ?? {};
  const large = found.filter((finding) => finding !== 'belowMinimum');
  const candidates = workingHours ? yield* applyWorkingHours(large, workingHours, window) : large;
  return {
    candidates: candidates.toSorted(compareCandidates),
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
    numberOf(b, 'z') - numberOf(a, 'z') ||
    numberOf(b, 'count') - numberOf(a, 'count') ||
    compareCodeUnits(a.entity, b.entity)
  );
}

function numberOf({ facts }: Candidate, fact: string): number {
  const value = facts[fact];
  return typeof value === 'number' ? value : 0;
}
