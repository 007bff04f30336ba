import { nameKey } from '../../src/feed/reference-data/name-forms.ts';

/** Returns whether a found product (`vendor product`) is a labeled one, with or without the vendor, or a part of it. */
export const isSameProduct = (found: string, labeled: string): boolean =>
  nameKey(found).includes(nameKey(labeled)) || nameKey(labeled).includes(nameKey(found.split(' ').slice(1).join(' ')));
