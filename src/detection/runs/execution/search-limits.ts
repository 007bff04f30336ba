import type { SearchLimits } from '../../siem/connector.ts';

/** Limits of the query of one window. */
export const searchLimits: SearchLimits = { rowsMax: 100_000, groupsMax: 10_000, timeoutMs: 60_000 };
