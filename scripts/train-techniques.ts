import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readProcedures, readReports } from './techniques/examples.ts';
import { packModel } from './techniques/pack-model.ts';
import { trainModel } from './techniques/train-model.ts';

/**
 * Trains the sentence classifier and writes src/feed/reference-data/shipped/techniques.bin. DATA contains feed/tram and
 * knowledge/attack-sentences. Techniques without labelled report sentences get a larger threshold because no report measures them.
 * Usage: node scripts/train-techniques.ts DATA
 */
const dir = process.argv[2];
if (!dir) throw new Error('Usage: node scripts/train-techniques.ts DATA');
const reports = readReports(dir);
const procedures = readProcedures(dir);
const inReports = new Set(reports.flatMap(({ examples }) => examples.flatMap(({ labels }) => labels)));
const examples = [...reports.flatMap((report) => report.examples), ...procedures];
const labels = [...new Set(examples.flatMap((example) => example.labels))].toSorted();
const model = trainModel(examples, labels, {
  examplesMin: 12,
  threshold: (label) => (inReports.has(label) ? -0.45 : 0),
});
const packed = packModel(model, 420_000);
writeFileSync(resolve(import.meta.dirname, '../src/feed/reference-data/shipped/techniques.bin'), packed);
console.log(`${model.labels.length} techniques, ${packed.length} bytes`);
