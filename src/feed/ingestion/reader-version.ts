/** Increment when this program reads the same documents differently. Sources are then read again, and stored texts are extracted again. */
export const readerRevision = 2;

const referenceDataVersionMax = 10_000_000;

/**
 * Returns the version of the reader that produced an item, as a number that grows with `readerRevision` and, for prose, with the version of
 * the reference data. Structured records do not depend on reference data.
 */
export const toReaderVersion = (isProse: boolean, referenceDataVersion: number): number =>
  readerRevision * referenceDataVersionMax +
  (isProse ? Math.min(referenceDataVersion, referenceDataVersionMax - 1) : referenceDataVersionMax - 1);
