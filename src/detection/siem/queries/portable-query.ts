const firstLine = /^\s*--\s*portable\s*(?:\n|$)/i;

/**
 * Returns whether a query for a connection is portable, as its first line `-- portable` says: SQL of the embedded engine, which reads the events
 * of the connection's datasets. Any other query is in the language of the SIEM.
 */
export const isPortableQuery = (query: string): boolean => firstLine.test(query);

/** Returns a query of the embedded engine as a portable one. */
export const toPortableQuery = (query: string): string => (isPortableQuery(query) ? query : `-- portable\n${query}`);

const lookbackLine = /^(?:\s*--[^\n]*\n)*?\s*--\s*lookback\s+(\d{1,9})s\s*(?:\n|$)/i;

/**
 * Returns how far the events before the window (`<dataset>_history`) reach, in milliseconds, which a comment such as `-- lookback 1200s` at the
 * beginning of a query of the embedded engine says. Undefined: all events before the window.
 */
export function readLookbackMs(query: string): number | undefined {
  const seconds = lookbackLine.exec(query)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
