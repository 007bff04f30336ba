import type { Candidate } from './candidate.ts';
import type { AnalysisDefinition, AnalysisWindow } from './analysis-definition.ts';
import type { EntityGroup } from './rows/group-rows.ts';
import type { Steps } from '../../platform/lib/concurrency/slices.ts';
import type { MemoryEntry, MemoryQuery, RecalledMemory } from './memory/memory.ts';

export type AnalysisInput = { groups: readonly EntityGroup[]; window: AnalysisWindow; definition: AnalysisDefinition };

/** Numbers of candidates that the tuning left out: `belowMinimum` by a minimum, `workingHours` by the working hours. */
export type DroppedCounts = { belowMinimum: number; workingHours: number };

/** The result of analyzing a window. `learning`: there was too little history to compare with, so there are no candidates. */
export type WindowResult = { candidates: Candidate[]; learning: boolean; dropped: DroppedCounts };

/** A candidate, or `belowMinimum` if a minimum of the tuning excludes it. */
export type Finding = Candidate | 'belowMinimum';

export type CandidateSearch = { findings: Finding[]; learning: boolean };

/**
 * How a category finds candidates. All functions are pure. Memory is passed in and returned as values. A window may have 100,000 rows, so
 * everything that looks at rows does it in steps.
 */
export type CategoryAnalysis = {
  /** The category compares with the past, so it must learn before it returns candidates. */
  usesHistory: boolean;
  /** Returns how far before the window's start memory is read, in milliseconds. */
  lookbackMs: (definition: AnalysisDefinition) => number;
  /** Returns the memory to store for a window. Depends on its own rows only, so the order of execution does not matter. */
  buildMemory: (input: AnalysisInput) => Steps<MemoryEntry[]>;
  /** Returns the query for the history that the window needs. */
  buildMemoryQuery: (input: AnalysisInput) => Steps<MemoryQuery>;
  findCandidates: (input: AnalysisInput & { past: RecalledMemory }) => Steps<CandidateSearch>;
};
