import { fieldError } from '../../../platform/lib/errors.ts';

export const historySuffix = '_history';
const pattern = /^[a-z][a-z0-9_]{0,62}$/;

export function isDatasetName(name: string): boolean {
  return pattern.test(name) && !name.endsWith(historySuffix);
}

/** Throws a 400 for what no query could name. */
export function checkDatasetName(name: string): void {
  if (isDatasetName(name)) return;
  const detail = `A dataset's name is a lower-case letter, then up to 62 lower-case letters, digits or underscores, not ending in ${historySuffix}.`;
  throw fieldError('path/dataset', 'invalid_name', detail);
}
