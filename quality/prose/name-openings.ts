import { extractNames } from '../../src/feed/extraction/names/extract-names.ts';
import type { NameKind } from '../../src/feed/extraction/names/dictionary/name-dictionary.ts';
import { toKey } from './name-keys.ts';
import { formatPrecisionAndRecall, type QualityFigure } from '../figures.ts';
import { readOpenings, type LabeledName, type Opening, type OpeningHalf } from './opening-labels.ts';
import { compareStatements, type Comparison } from './opening-statements.ts';

const isActor = ({ kind }: { kind: NameKind }): boolean => kind === 'actor';

/**
 * Measures the names of actors, malware and tools in the openings of labeled public pages, and, where they are labeled, the products and the
 * relationships. `folder` contains the texts (`readOpenings`). Returns no figures without them.
 */
export const measureNameOpenings = (verbose: boolean, folder: string | undefined): QualityFigure[] =>
  readOpenings(folder).flatMap((half) => measureHalf(half, verbose && !half.isHeldOut));

function measureHalf({ title, isHeldOut, openings }: OpeningHalf, isPrinted: boolean): QualityFigure[] {
  const compare = (kind: string, read: (opening: Opening) => Comparison): Comparison =>
    join(
      openings.map((opening) => {
        const comparison = read(opening);
        if (isPrinted) printErrors(kind, opening, comparison);
        return comparison;
      }),
    );
  const actors = compare('actors', (opening) => compareNames(opening, true));
  const software = compare('malware and tools', (opening) => compareNames(opening, false));
  const names: QualityFigure[] = [
    createFigure(`${title}: actors`, actors, isHeldOut),
    createFigure(`${title}: malware and tools`, software, isHeldOut),
    createFigure(`${title}: all names`, join([actors, software]), isHeldOut),
  ];
  const isLabeled = (field: 'products' | 'relationships'): boolean => openings.some(({ label }) => label[field]);
  const statements = (['products', 'relationships'] as const).filter(isLabeled).map((field) =>
    createFigure(
      `${title}: ${field}`,
      compare(field, (opening) => compareStatements(opening)[field]),
      false,
    ),
  );
  return [...names, ...statements];
}

function compareNames({ label, text }: Opening, wantsActors: boolean): Comparison {
  const found = extractNames(text)
    .filter((one) => isActor(one) === wantsActors)
    .map(({ name, aliases, printed }) => ({ name, keys: new Set([name, ...aliases, ...printed].map(toKey)) }));
  const isOneOf = (names: LabeledName[], keys: Set<string>): boolean =>
    names.some((one) => isActor(one) === wantsActors && keys.has(toKey(one.name)));
  const gold = label.names.filter((one) => isActor(one) === wantsActors);
  const isFound = ({ name }: LabeledName): boolean => found.some(({ keys }) => keys.has(toKey(name)));
  return {
    right: gold.filter(isFound).map(({ name }) => name),
    wrong: found
      .filter(({ keys }) => !isOneOf(gold, keys) && !isOneOf(label.arguable ?? [], keys))
      .map(({ name }) => name),
    missed: gold.filter((one) => !isFound(one)).map(({ name }) => name),
  };
}

function printErrors(kind: string, { label }: Opening, { wrong, missed }: Comparison): void {
  if (wrong.length + missed.length > 0)
    console.log(`${label.address.slice(0, 60)} | ${kind} | wrong: ${wrong.join(', ')} | missed: ${missed.join(', ')}`);
}

const join = (comparisons: Comparison[]): Comparison => ({
  right: comparisons.flatMap(({ right }) => right),
  wrong: comparisons.flatMap(({ wrong }) => wrong),
  missed: comparisons.flatMap(({ missed }) => missed),
});

const target = 0.85;

function createFigure(name: string, comparison: Comparison, hasTarget: boolean): QualityFigure {
  const [right, wrong, missed] = [comparison.right.length, comparison.wrong.length, comparison.missed.length];
  const score = (2 * right) / (2 * right + wrong + missed);
  const measured = `F1 ${score.toFixed(3)}, ${formatPrecisionAndRecall({ right, wrong, missed })}`;
  return hasTarget ? { name, measured, target: `F1 ≥ ${target}`, isMet: score >= target } : { name, measured };
}
