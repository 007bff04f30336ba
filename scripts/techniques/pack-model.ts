import { gzipSync } from 'node:zlib';
import { featureBits, idfSteps } from '../../src/feed/extraction/classifier/linear-model.ts';

export type TrainedModel = { labels: string[]; thresholds: number[]; machines: Float32Array[]; idf: Float32Array };

const dimensions = 1 << featureBits;

/** Quantizes and packs a model. Keeps the `weightsMax` most effective weights, each as one byte scaled per machine. */
export function packModel(model: TrainedModel, weightsMax: number): Buffer {
  const { machines, idf } = model;
  const least = findWeightThreshold(machines, idf, weightsMax);
  const scales = machines.map(
    (machine) => machine.subarray(0, dimensions).reduce((most, weight) => Math.max(most, Math.abs(weight)), 1e-9) / 127,
  );
  const lengths = new Uint16Array(dimensions);
  const labels: number[] = [];
  const weights: number[] = [];
  for (let feature = 0; feature < dimensions; feature += 1) {
    for (const [label, machine] of machines.entries()) {
      if (Math.abs(machine[feature]!) * idf[feature]! < least) continue;
      const weight = Math.round(machine[feature]! / scales[label]!);
      if (weight === 0) continue;
      lengths[feature]! += 1;
      labels.push(label);
      weights.push(weight);
    }
  }
  const floats = Float32Array.from([
    ...model.thresholds,
    ...scales,
    ...machines.map((machine) => machine[dimensions]!),
  ]);
  const head = `${JSON.stringify({ labels: model.labels, weights: weights.length })}\n`;
  const parts = [
    floats,
    Uint8Array.from(idf, (value) => Math.round(value * idfSteps)),
    lengths,
    Uint16Array.from(labels),
    Int8Array.from(weights),
  ];
  return gzipSync(
    Buffer.concat([
      Buffer.from(head),
      ...parts.map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength)),
    ]),
    { level: 9 },
  );
}

/** Estimates the size of the `weightsMax`-th largest weight from a histogram. */
function findWeightThreshold(machines: Float32Array[], idf: Float32Array, weightsMax: number): number {
  const bins = new Uint32Array(2_000);
  for (const machine of machines)
    for (let feature = 0; feature < dimensions; feature += 1)
      if (machine[feature] !== 0)
        bins[Math.min(1_999, Math.floor(Math.abs(machine[feature]!) * idf[feature]! * 100))]! += 1;
  let kept = 0;
  for (let bin = 1_999; bin > 0; bin -= 1) {
    kept += bins[bin]!;
    if (kept > weightsMax) return (bin + 1) / 100;
  }
  return 0.01;
}
