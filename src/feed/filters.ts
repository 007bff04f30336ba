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
