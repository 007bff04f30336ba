const firstLine = /^\s*--\s*portable[^\S\n]*(?:\n|$)/i;

/** Returns whether the first line of a query says that it is portable: SQL of the embedded engine on the datasets of a connection. */
export const isPortable = (query: string): boolean => firstLine.test(query);

/** Adds or removes the first line that makes a query portable. */
export const setPortable = (query: string, portable: boolean): string =>
  portable ? (isPortable(query) ? query : `-- portable\n${query}`) : query.replace(firstLine, '');
