/** What narrows a list. `sources`: publisher or source name among them. `rootsOnly` leaves duplicates out. */
export type ItemFilters = {
  severity?: string;
  status?: string;
  /** Where the organization's own pool stands, for one that says something of items itself. */
  own?: number;
  platform?: string;
  sources?: { publishers: string[]; names: string[] };
  rootsOnly?: boolean;
};

/** With duplicates hidden an item is also found by the source of a duplicate of it. */
export const isThroughDuplicates = ({ rootsOnly = false, sources }: ItemFilters): boolean =>
  rootsOnly && sources !== undefined;
