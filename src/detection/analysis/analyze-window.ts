import { severities, type Candidate } from './candidate.ts';
import { categories } from './registry.ts';
import type { AnalysisInput, Findings } from './category.ts';
import type { AnalysisDefinition, AnalysisWindow } from './analysis-definition.ts';
import { groupRows, type Group } from './rows/group-rows.ts';
import type { MemoryEntry, MemoryQuery, PastMemory } from './memory/memory.ts';
import type { Row } from '../siem/connector.ts';
import { compareCodeUnits } from '../../platform/lib/text/canonical-text.ts';

/** A window's rows, ready to be analysed: what to remember of them and what to ask of the past. */
export type PreparedWindow = AnalysisInput & { memory: MemoryEntry[]; query: MemoryQuery };

/** First half of an analysis, before memory is read: groups the rows. Pure; linear in the rows. */
export function prepareWindow(
  rows: readonly Row[],
  window: AnalysisWindow,
  definition: AnalysisDefinition,
): PreparedWindow {
  const input = { groups: groupRows(rows, definition), window, definition };
  const category = categories[definition.category];
  return { ...input, memory: category.remember(input), query: category.recall(input) };
}

/** Second half: the candidates, the most severe first, then by z, count and name. Pure. */
export function analyseWindow(prepared: PreparedWindow, past: PastMemory): Findings {
  const { groups, window, definition } = prepared;
  const found = categories[definition.category].candidates({ groups, window, definition, past });
  return { ...found, candidates: found.candidates.toSorted(compareCandidates) };
}

/** Share of the groups that a named field gave, 0 to 1; 1 for none. The score asks for it. */
export function namedShare(groups: readonly Group[]): number {
  return groups.length === 0 ? 1 : groups.filter(({ named }) => named).length / groups.length;
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
