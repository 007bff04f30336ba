/** Publishers and source names, either of which may match. */
export type SourceFilter = { publishers: string[]; names: string[] };

/** The filters of a list by the columns of an item. */
export type ItemFilters = {
  severity?: string;
  status?: string;
  platform?: string;
  sources?: SourceFilter;
  /** Leaves duplicates out. */
  rootsOnly?: boolean;
  /** Sequence number of the organization's private pool at which its overrides apply. Absent when the organization has no overrides. */
  overridesSeq?: number;
};

/** Returns whether overrides decide which items a list contains: only severity, status and the root of an item can be overridden. */
export const usesOverriddenRows = ({ overridesSeq, severity, status, rootsOnly = false }: ItemFilters): boolean =>
  overridesSeq !== undefined && (rootsOnly || severity !== undefined || status !== undefined);

/** Returns whether the list also contains roots that only a duplicate of theirs connects to the wanted source. */
export const usesDuplicateRoots = ({ rootsOnly = false, sources }: ItemFilters): boolean =>
  rootsOnly && sources !== undefined;

/** Returns whether a list leaves out any item of its pools. */
export const hasFilters = ({ overridesSeq: _overridesSeq, rootsOnly = false, ...columns }: ItemFilters): boolean =>
  rootsOnly || Object.values(columns).some((value) => value !== undefined);
