/** A path or registry key as Windows writes it: its first part ends with a backslash. A command in quotation marks does not begin with one. */
const windowsPath = /^(?:[a-z]:\\|%[^%]+%\\|[^\s\\/:"'<>|]*\\)/i;

/** Returns whether a value is a registry key or a path of Windows, which does not distinguish case in them. */
export const isCaseInsensitive = (normalizedValue: string): boolean =>
  normalizedValue.includes('\\') && windowsPath.test(normalizedValue);

/**
 * Returns the text by which canonical values are compared. Registry keys and paths of Windows keep the case of their source as a value, and
 * are compared in lower case.
 */
export const toComparisonForm = (normalizedValue: string): string =>
  isCaseInsensitive(normalizedValue) ? normalizedValue.toLowerCase() : normalizedValue;

/** Returns the key by which values of several types are compared. */
export const toComparisonKey = ({ type, normalizedValue }: { type: string; normalizedValue: string }): string =>
  `${type} ${toComparisonForm(normalizedValue)}`;
