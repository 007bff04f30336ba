/** The record id of a further part of a large report or event, from 2. The first part has the id of the whole. */
export const toPartId = (wholeId: string, part: number): string => `${wholeId} [part ${part}]`;

/** Returns the record id of the whole that a part belongs to, or undefined if the id is not that of a further part. */
export const findWholeId = (recordId: string): string | undefined => /^(.*) \[part \d+\]$/s.exec(recordId)?.[1];
