import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';

export const featureBits = 18;
const featureMask = (1 << featureBits) - 1;
export const hashStart = 0x811c9dc5;

/** Continues the FNV-1a hash of a text. */
export function hash(text: string, start: number = hashStart): number {
  let value = start;
  for (let at = 0; at < text.length; at += 1) {
    value ^= text.charCodeAt(at);
    value = Math.imul(value, 0x01000193);
  }
  return value;
}

/** Returns the feature of a hash. */
export const toFeature = (value: number): number => (value ^ (value >>> 15)) & featureMask;

/** A sparse, quantized linear classifier with one support vector machine per label. */
export type LinearModel = {
  labels: string[];
  /** The minimum margin per label. */
  thresholds: Float32Array;
  scales: Float32Array;
  biases: Float32Array;
  /** Inverse document frequency per feature in twentieths, 0 for features absent from the training data. */
  idf: Uint8Array;
  /** The offset of each feature's weights in `weightLabels` and `weights`. */
  starts: Uint32Array;
  weightLabels: Uint16Array;
  weights: Int8Array;
};

export const idfSteps = 20;
const dimensions = 1 << featureBits;

/** Writes the margins of all labels for the features of one text into `into`, which has one element per label. */
export function scoreLabels(model: LinearModel, features: number[], into: Float32Array): void {
  into.fill(0);
  let norm = 0;
  for (const feature of features) norm += (model.idf[feature]! / idfSteps) ** 2;
  const scale = norm > 0 ? 1 / Math.sqrt(norm) : 0;
  for (const feature of features) {
    const idf = model.idf[feature]!;
    if (idf === 0) continue;
    const value = (idf / idfSteps) * scale;
    const end = model.starts[feature + 1]!;
    for (let at = model.starts[feature]!; at < end; at += 1)
      into[model.weightLabels[at]!]! += model.weights[at]! * value;
  }
  for (let label = 0; label < into.length; label += 1)
    into[label] = into[label]! * model.scales[label]! + model.biases[label]!;
}

/** Reads a packed model: a JSON line followed by the arrays, all gzipped. */
export function unpackLinearModel(packed: Buffer): LinearModel {
  const bytes = gunzipSync(packed, { maxOutputLength: 64 * 1024 * 1024 });
  const line = bytes.indexOf(0x0a);
  const head = JSON.parse(bytes.subarray(0, line).toString('utf8')) as { labels: string[]; weights: number };
  let at = line + 1;
  const take = (length: number): ArrayBuffer => {
    const part = bytes.buffer.slice(bytes.byteOffset + at, bytes.byteOffset + at + length);
    at += length;
    return part as ArrayBuffer;
  };
  const count = head.labels.length;
  const floats = new Float32Array(take(count * 12));
  const idf = new Uint8Array(take(dimensions));
  const lengths = new Uint16Array(take(dimensions * 2));
  const starts = new Uint32Array(dimensions + 1);
  for (let feature = 0; feature < dimensions; feature += 1) starts[feature + 1] = starts[feature]! + lengths[feature]!;
  return {
    labels: head.labels,
    thresholds: floats.subarray(0, count),
    scales: floats.subarray(count, count * 2),
    biases: floats.subarray(count * 2),
    idf,
    starts,
    weightLabels: new Uint16Array(take(head.weights * 2)),
    weights: new Int8Array(take(head.weights)),
  };
}

const shipped = new Map<string, LinearModel>();

/** Returns a shipped model. Unpacked once per process. */
export function getShippedModel(name: 'names' | 'techniques'): LinearModel {
  let model = shipped.get(name);
  if (!model) {
    const file = resolve(import.meta.dirname, `../../reference-data/shipped/${name}.bin`);
    shipped.set(name, (model = unpackLinearModel(readFileSync(file))));
  }
  return model;
}
