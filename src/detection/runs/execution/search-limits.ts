import type { SearchLimits } from '../../siem/connector.ts';

/** What a run asks a SIEM for at most, of one window. */
export const searchLimits: SearchLimits = { rowsMax: 100_000, groupsMax: 10_000, timeoutMs: 60_000 };
