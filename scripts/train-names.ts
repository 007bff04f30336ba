import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { scoreLabels, unpackLinearModel, type LinearModel } from '../src/feed/extraction/classifier/linear-model.ts';
import { getShippedNames } from '../src/feed/extraction/names/dictionary/name-dictionary.ts';
import { findCandidates, isTitled } from '../src/feed/extraction/names/name-candidates.ts';
import { nameKey } from '../src/feed/reference-data/name-forms.ts';
import prototypes from './names/prototypes.json' with { type: 'json' };
import { createRandom } from './techniques/svm.ts';
import type { TrainingExample } from './techniques/examples.ts';
import { packModel } from './techniques/pack-model.ts';
import { trainModel } from './techniques/train-model.ts';

/**
 * Trains the classifier of names and writes src/feed/reference-data/shipped/names.bin. DATA contains feed/tram. The names of the shipped table
 * that a report mentions are its examples of their kinds, and all other candidates are examples of no name. Candidates that a model of other
 * names takes for names are left out, because the table lacks some names of the reports.
 * Usage: node scripts/train-names.ts DATA
 */
const dir = process.argv[2];
if (!dir) throw new Error('Usage: node scripts/train-names.ts DATA');

type NameExample = TrainingExample & { key: string; printed: string };

const dictionary = getShippedNames();
const kinds = ['malware', 'tool', 'actor'];
const weightsMax = 30_000;
const doubtful = -0.2;

/** Returns the kind of a listed name. Undefined for an ambiguous one, and for one that is also an everyday word. */
function listLabels(printed: string): string[] | undefined {
  const entry = dictionary.get(nameKey(printed));
  if (!entry) return [];
  const found = [...new Set(entry.entities.map(({ kind }) => kind))];
  return (entry.needsCue && !isTitled(printed)) || found.length > 1 ? undefined : found;
}

const readExamples = (text: string): NameExample[] =>
  findCandidates(text, dictionary).flatMap(({ printed, features }) => {
    const key = nameKey(printed);
    const labels = listLabels(printed);
    return features && labels ? [{ features, labels, key, printed }] : [];
  });

/** Returns the candidates of invented sentences, each with several names of its kind, or words that are no names. */
function readPrototypes(others: string[]): NameExample[] {
  const random = createRandom(7);
  const entries = [...dictionary.values()].filter(({ needsCue, entities }) => !needsCue && entities.length === 1);
  const byKind = Map.groupBy(entries, ({ entities }) => entities[0]!.kind as string);
  return Object.entries(prototypes).flatMap(([kind, sentences]) => {
    const names = kind === 'none' ? others : byKind.get(kind)!.map(({ printed }) => printed);
    return sentences.flatMap((sentence) =>
      Array.from({ length: namesPerPrototype }, () => names[Math.floor(random() * names.length)]!).flatMap((name) =>
        findCandidates(
          sentence.replaceAll(/(?<![A-Za-z])X(?![A-Za-z])/g, () => name),
          dictionary,
        )
          .filter(({ printed }) => printed === name)
          .flatMap(({ features }) =>
            features ? [{ features, labels: kind === 'none' ? [] : [kind], key: nameKey(name), printed: name }] : [],
          ),
      ),
    );
  });
}
const namesPerPrototype = 35;

const train = (examples: NameExample[]): Buffer =>
  packModel(
    trainModel(examples, kinds, { examplesMin: 1, threshold: () => 0, positiveWeight: 2, isWeighted: false }),
    weightsMax,
  );

function scoreBest(model: LinearModel, features: number[]): number {
  const margins = new Float32Array(kinds.length);
  scoreLabels(model, features, margins);
  return Math.max(...margins);
}

const parts = 4;
const partOf = (key: string): number => [...key].reduce((sum, letter) => sum + letter.codePointAt(0)!, 0) % parts;

const all = gunzipSync(readFileSync(join(dir, 'feed/tram/reports.ndjson.gz')))
  .toString('utf8')
  .trimEnd()
  .split('\n')
  .flatMap((line) => readExamples((JSON.parse(line) as { text: string }).text));
const others = all.flatMap(({ labels, printed }) => (labels.length === 0 ? [printed] : []));
const invented = readPrototypes(others);
const kept = Array.from({ length: parts }, (_, part) => {
  const model = unpackLinearModel(train([...all.filter(({ key }) => partOf(key) !== part), ...invented]));
  return all.filter(
    ({ key, labels, features }) => partOf(key) === part && (labels.length > 0 || scoreBest(model, features) < doubtful),
  );
}).flat();
const packed = train([...kept, ...invented]);
writeFileSync(resolve(import.meta.dirname, '../src/feed/reference-data/shipped/names.bin'), packed);
console.log(`${kept.length} of ${all.length} candidates, ${packed.length} bytes`);
