import type { Candidate } from './candidate.ts';
import type { AnalysisDefinition, AnalysisWindow } from './analysis-definition.ts';
import type { Group } from './rows/group-rows.ts';
import type { MemoryEntry, MemoryQuery, PastMemory } from './memory/memory.ts';

export type AnalysisInput = { groups: readonly Group[]; window: AnalysisWindow; definition: AnalysisDefinition };

/** What a window gave: `learning` says that there was too little past to compare with, and then there are no candidates. */
export type Findings = { candidates: Candidate[]; learning: boolean };

/** One way of telling what is worth judging. All of it is pure; memory comes and goes as values. */
export type CategoryAnalysis = {
  /** It compares with the past, so it learns before it speaks. */
  usesHistory: boolean;
  /** How far back it reads memory, in milliseconds before the window's start. */
  reachMs: (definition: AnalysisDefinition) => number;
  /** What to keep of this window: a function of its own rows alone, so that the order of execution leaves no trace. */
  remember: (input: AnalysisInput) => MemoryEntry[];
  /** What it must know of the past to judge this window. */
  recall: (input: AnalysisInput) => MemoryQuery;
  candidates: (input: AnalysisInput & { past: PastMemory }) => Findings;
};
