import type { Candidate, Facts } from './candidate.ts';
import type { AnalysisDefinition, AnalysisWindow } from './analysis-definition.ts';
import type { EntityGroup } from './rows/group-rows.ts';
import type { Steps } from '../../platform/lib/concurrency/slices.ts';
import type { MemoryEntry, MemoryQuery, RecalledMemory } from './memory/memory.ts';
import type { Subject } from './wording.ts';
import type { Sensitivity } from './tuning.schema.ts';

export type AnalysisInput = { groups: readonly EntityGroup[]; window: AnalysisWindow; definition: AnalysisDefinition };

/** Numbers of candidates that the tuning left out: `belowMinimum` by a minimum, `workingHours` by the working hours. */
export type DroppedCounts = { belowMinimum: number; workingHours: number };

/** The result of analyzing a window. `learning`: there was too little history to compare with, so there are no candidates. */
export type WindowResult = { candidates: Candidate[]; learning: boolean; dropped: DroppedCounts };

/** A candidate, or `belowMinimum` if a minimum of the tuning excludes it. */
export type Finding = Candidate | 'belowMinimum';

export type CandidateSearch = { findings: Finding[]; learning: boolean };

/** The parts from which a category builds what the built-in analyst says about a candidate. */
export type CandidateTexts = {
  facts: Facts;
  subject: Subject;
  /** Returns the most frequent actions of the rows. */
  listActions: () => string[];
  /** Returns the main action of the rows with its target and origin, in parentheses: ` (AttachUserPolicy on Admin from 192.0.2.9)`, or ''. */
  describeAction: () => string;
};

/** `finding` is a sentence without its full stop. The actions of the rows follow it. `details` are whole sentences. */
export type FindingTexts = { finding: string; details?: string[]; nextStep: string };

/**
 * A question that the built-in analyst asks of the data about a candidate: who else had its address or its new value, what else the entity did, since
 * when it occurs, where its addresses are, what the organization and the threat feed know, and which other hits share a value with it.
 */
export type FollowUp =
  | 'same_address'
  | 'same_value'
  | 'what_else'
  | 'since_when'
  | 'known_here'
  | 'where_from'
  | 'related_hits'
  | 'known_to_feed';

/**
 * A detection category: everything that any room asks about it. All functions are pure. Memory is passed in and returned as values. A window may
 * have 100,000 rows, so everything that looks at rows does it in steps.
 */
export type Category = {
  /** The name that people see. */
  label: string;
  /** A sentence that says which entities are judged. */
  description: string;
  /** The category compares with the past, so it must learn before it returns candidates. */
  usesHistory: boolean;
  /** Returns how far before the window's start memory is read, in milliseconds. */
  lookbackMs: (definition: AnalysisDefinition) => number;
  /** Returns the memory to store for a window. Depends on its own rows only, so the order of execution does not matter. */
  buildMemory: (input: AnalysisInput) => Steps<MemoryEntry[]>;
  /** Returns the query for the history that the window needs. */
  buildMemoryQuery: (input: AnalysisInput) => Steps<MemoryQuery>;
  findCandidates: (input: AnalysisInput & { past: RecalledMemory }) => Steps<CandidateSearch>;
  /** Columns that a query must return, each with the warning if it does not. */
  neededColumns: { column: string; code: string; detail: string }[];
  /** Rows need times even if they are aggregates. */
  needsRowTimes: boolean;
  tuning: {
    defaults: TuningDefaults;
    /** Fields of the tuning on which the memory of a window depends. A change of one begins a new generation. */
    remembered: TuningField[];
    /** What an author can do instead of setting a field that the category does not use. */
    instead: Partial<Record<TuningField, string>>;
  };
  /** A verdict is shared only among candidates with the same `kindKey`, and not by all of the entity. */
  judgesEachKind: boolean;
  /** Returns the confidence of the built-in analyst, 0-100. docs/reference/analysis.md lists the rules. */
  confidence: (facts: Facts) => number;
  /** Returns what completes the headline "<name of the detection>: ". */
  describeHeadline: (texts: CandidateTexts) => string;
  describeFinding: (texts: Pick<CandidateTexts, 'facts' | 'subject'>) => FindingTexts;
  /** Added to the reason why a field of the rows is evidence. */
  evidenceNote: string;
  /** The questions of the built-in analyst, in their order. */
  followUps: readonly FollowUp[];
  draft: {
    /** The instruction about the query for a model that drafts a detection. */
    rule: string;
    /** A query groups by few columns, because every new combination of values counts. */
    hasFewColumns: boolean;
    /** The first window of a test can have candidates. */
    findsInFirstWindow: boolean;
  };
};

type Description = { label: string; hint: string; options?: Record<string, string> };

/**
 * The fields of the tuning that a category can use, as the console shows them. `Tuning` has their limits. Every category has the value lists and
 * the working hours besides.
 */
export const tuningFields = {
  sensitivity: {
    label: 'Sensitivity',
    hint: 'How unusual a candidate must be.',
    options: { low: 'Low: fewer candidates', medium: 'Medium', high: 'High: more candidates' } satisfies Record<
      Sensitivity,
      string
    >,
  },
  minimumCount: { label: 'Minimum count', hint: 'The smallest number that is a candidate.' },
  minimumIncrease: { label: 'Minimum increase', hint: 'Smallest difference from the median.' },
  historyDays: { label: 'Days of history', hint: 'How far back to compare.' },
  sequenceHours: { label: 'Longest sequence, hours', hint: 'From the first step to the last.' },
  minimumSpeedKmh: { label: 'Minimum speed, km/h', hint: 'Only moves between places that are at least as fast.' },
  'peers.minimum': { label: 'Peers that excuse it', hint: 'So many others with the same make it low.' },
  'peers.by': { label: 'Column of the peer group', hint: 'Such as department. Empty: all entities.' },
} as const satisfies Record<string, Description>;
export type TuningField = keyof typeof tuningFields;

/** The fields that a category uses, with the value that applies while a field is not set. Null: none does. */
type TuningDefaults = Partial<Record<TuningField, number | string | null>>;

type Tuned = Pick<AnalysisDefinition, 'tuning'>;
export const sensitivityOf = ({ tuning }: Tuned): Sensitivity => tuning?.sensitivity ?? 'medium';

const defaultPeersMin = 3;
/** The defaults of categories that compare entities with others. */
export const peerDefaults = { sensitivity: 'medium', 'peers.minimum': defaultPeersMin } satisfies TuningDefaults;

/** Returns the number of other entities that must have shown a value before it counts as known. 0: other entities are ignored. */
export const peersMin = ({ tuning }: Tuned): number => tuning?.peers?.minimum ?? defaultPeersMin;

/** Returns the smallest number of rows that is a candidate. */
export const rowsMin = ({ tuning }: Tuned): number => tuning?.minimumCount ?? 1;
