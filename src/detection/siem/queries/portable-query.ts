const firstLine = /^\s*--\s*portable\s*(?:\n|$)/i;

/**
 * Returns whether a query for a connection is portable, as its first line `-- portable` says: SQL of the embedded engine, which reads the events
 * of the connection's datasets. Any other query is in the language of the SIEM.
 */
export const isPortableQuery = (query: string): boolean => firstLine.test(query);

/** Returns a query of the embedded engine as a portable one. */
export const toPortableQuery = (query: string): string => (isPortableQuery(query) ? query : `-- portable\n${query}`);
