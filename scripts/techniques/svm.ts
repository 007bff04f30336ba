/** Sparse rows. The value of a feature is its inverse document frequency, scaled to unit row length. */
export type SparseRows = { features: Int32Array[]; values: Float32Array[] };

/** Scales rows to inverse document frequency (`idf`, by feature) and unit length. */
export function scaleRows(features: number[][], idf: Float32Array): SparseRows {
  const rows: SparseRows = { features: [], values: [] };
  for (const list of features) {
    const ids = Int32Array.from(list);
    const values = new Float32Array(ids.length);
    let norm = 0;
    for (let at = 0; at < ids.length; at += 1) {
      values[at] = idf[ids[at]!]!;
      norm += values[at]! ** 2;
    }
    const scale = norm > 0 ? 1 / Math.sqrt(norm) : 0;
    for (let at = 0; at < values.length; at += 1) values[at]! *= scale;
    rows.features.push(ids);
    rows.values.push(values);
  }
  return rows;
}

export function calculateIdf(features: number[][], dimensions: number): Float32Array {
  const counts = new Float32Array(dimensions);
  for (const list of features) for (const id of list) counts[id]! += 1;
  return counts.map((count) => (count === 0 ? 0 : Math.log((1 + features.length) / (1 + count)) + 1));
}

type SvmOptions = { cost: number; positiveWeight: number; epochs: number; random: () => number };

/**
 * Trains a linear machine (squared hinge, L2) by dual coordinate descent (Hsieh et al. 2008, as in LIBLINEAR -s 1). `labels` is +1 or -1
 * per row, or 0 to skip the row. The last weight is the bias.
 */
export function trainSvm(rows: SparseRows, labels: Int8Array, dimensions: number, options: SvmOptions): Float32Array {
  const weights = new Float32Array(dimensions + 1);
  const used = [...labels.keys()].filter((row) => labels[row] !== 0);
  const order = Int32Array.from(used);
  const alpha = new Float32Array(labels.length);
  const norms = new Float32Array(labels.length);
  for (const row of used) norms[row] = 1 + rows.values[row]!.reduce((sum, value) => sum + value * value, 0);
  for (let epoch = 0; epoch < options.epochs; epoch += 1) {
    shuffle(order, options.random);
    for (const row of order) {
      const label = labels[row]!;
      const diagonal = 0.5 / (options.cost * (label > 0 ? options.positiveWeight : 1));
      const ids = rows.features[row]!;
      const values = rows.values[row]!;
      let margin = weights[dimensions]!;
      for (let at = 0; at < ids.length; at += 1) margin += weights[ids[at]!]! * values[at]!;
      const gradient = label * margin - 1 + diagonal * alpha[row]!;
      if (alpha[row] === 0 && gradient >= 0) continue;
      const before = alpha[row]!;
      alpha[row] = Math.max(0, before - gradient / (norms[row]! + diagonal));
      const step = (alpha[row]! - before) * label;
      if (step === 0) continue;
      for (let at = 0; at < ids.length; at += 1) weights[ids[at]!]! += step * values[at]!;
      weights[dimensions]! += step;
    }
  }
  return weights;
}

function shuffle(order: Int32Array, random: () => number): void {
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [order[at], order[other]] = [order[other]!, order[at]!];
  }
}

/** Returns a seeded random number generator, so that training is reproducible. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
