/** Increment when this program reads the same documents differently. Sources are then read again, and stored texts are extracted again. */
const readerRevision = 20;

/** Returns the mark of a source's last pull. Sources with another mark are read again: their names and harmless values may differ. */
export const toSourceReading = (referenceDataVersion: number): string => `${readerRevision}.${referenceDataVersion}`;

const referenceDataVersionMax = 10_000_000;

/**
 * Returns the version of the reader that produced an item, as a number that grows with `readerRevision` and, for prose, with the version of
 * the reference data. The next pull of their source reads structured records again.
 */
export const toReaderVersion = (isProse: boolean, referenceDataVersion: number): number =>
  readerRevision * referenceDataVersionMax +
  (isProse ? Math.min(referenceDataVersion, referenceDataVersionMax - 1) : referenceDataVersionMax - 1);
