import { fieldError } from '../../../platform/lib/errors.ts';

export const historySuffix = '_history';
/** `POST /api/logs/search` is a route. */
const reservedName = 'search';
const pattern = /^[a-z][a-z0-9_]{0,62}$/;

export function isDatasetName(name: string): boolean {
  return pattern.test(name) && !name.endsWith(historySuffix) && name !== reservedName;
}

/** Throws a 400 if the name is not a valid dataset name. */
export function checkDatasetName(name: string): void {
  if (isDatasetName(name)) return;
  const detail = `A dataset name starts with a lowercase letter, followed by up to 62 lowercase letters, digits or underscores, and does not end in ${historySuffix}. It is not ${reservedName}.`;
  throw fieldError('path/dataset', 'invalid_name', detail);
}
