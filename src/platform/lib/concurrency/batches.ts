/** A second limit of a batch, such as the characters of its texts. */
type WeightLimit<Item> = { max: number; of: (item: Item) => number };

/** Splits a list into batches of at most `countMax` items and at most the given weight. An item that is heavier has a batch of its own. */
export function splitIntoBatches<Item>(
  items: readonly Item[],
  countMax: number,
  weightLimit?: WeightLimit<Item>,
): Item[][] {
  const batches: Item[][] = [];
  let weight = 0;
  for (const item of items) {
    const ownWeight = weightLimit?.of(item) ?? 0;
    const batch = batches.at(-1);
    if (!batch || batch.length >= countMax || (weightLimit && weight + ownWeight > weightLimit.max)) {
      batches.push([item]);
      weight = ownWeight;
    } else {
      batch.push(item);
      weight += ownWeight;
    }
  }
  return batches;
}
