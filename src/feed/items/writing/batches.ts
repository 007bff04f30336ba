const batchMax = 500;

/** Splits a list into batches of at most 500. */
export const batches = <T>(list: T[]): T[][] =>
  Array.from({ length: Math.ceil(list.length / batchMax) }, (_, index) =>
    list.slice(index * batchMax, (index + 1) * batchMax),
  );
