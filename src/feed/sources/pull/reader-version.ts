/** Moves when this program reads the same bytes differently: sources are then read again, and what is stored is analysed again. */
export const reading = 2;

const span = 10_000_000;

/**
 * How an item was read, as a number that grows with the program and, for a text, with the knowledge that it was read by
 * (`knowledgeTakenAt`). The fields of a structured record say what they say whatever is known.
 */
export const readingOf = (isText: boolean, knowledge: number): number =>
  reading * span + (isText ? Math.min(knowledge, span - 1) : span - 1);
