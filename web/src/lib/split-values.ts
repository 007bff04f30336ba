const separators = /[\s,;"'<>|]+/;

/** Returns the values of pasted text, each once: what stands between spaces, lines, commas, quotes and the like. */
export const splitValues = (text: string): string[] => [
  ...new Set(text.split(separators).filter((value) => value !== '')),
];
