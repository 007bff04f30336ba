import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { extractNames } from '../src/feed/extraction/names/extract-names.ts';
import type { NameKind } from '../src/feed/extraction/names/name-dictionary.ts';
import { nameKey } from '../src/feed/reference-data/name-forms.ts';
import { formatRatio, type QualityFigure } from './figures.ts';

type LabeledName = { kind: NameKind; name: string };
/** The names in the opening of a public page, labeled from its text before the extraction was run on it. */
type OpeningLabel = {
  address: string;
  publisher: string;
  names: LabeledName[];
  /** Names that a second reader may or may not label. They count neither as right nor as wrong. */
  arguable?: LabeledName[];
};
type Counts = { right: number; wrong: number; missed: number };

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Pages whose address has an odd first hexadecimal digit of its SHA-256. The rules were written without them. */
const isHeldOut = ({ address }: OpeningLabel): boolean => Number.parseInt(sha256(address)[0]!, 16) % 2 === 1;

const isActor = ({ kind }: { kind: NameKind }): boolean => kind === 'actor';

/**
 * Measures the names of actors, malware and tools in the openings of labeled public pages. `folder` contains one text file per page, named by
 * the first 16 digits of the SHA-256 of its address. Returns no figures without the texts.
 */
export function measureNameOpenings(verbose: boolean, folder: string | undefined): QualityFigure[] {
  const labels = JSON.parse(readFileSync(new URL('name-labels.json', import.meta.url), 'utf8')) as OpeningLabel[];
  const pages = labels.flatMap((label) => {
    const file = folder && join(folder, `${sha256(label.address).slice(0, 16)}.txt`);
    return file && existsSync(file) ? [{ label, text: readFileSync(file, 'utf8') }] : [];
  });
  return [
    ['half of rule writing', pages.filter(({ label }) => !isHeldOut(label))] as const,
    ['held-out half', pages.filter(({ label }) => isHeldOut(label))] as const,
  ].flatMap(([half, some]) => {
    if (some.length === 0) return [];
    const isPrinted = verbose && half !== 'held-out half';
    const actors = sum(some.map((page) => compare(page, true, isPrinted)));
    const software = sum(some.map((page) => compare(page, false, isPrinted)));
    return [
      createFigure(`${half}, ${some.length} openings of pages: actors`, actors, half),
      createFigure(`${half}, ${some.length} openings of pages: malware and tools`, software, half),
      createFigure(`${half}, ${some.length} openings of pages: all names`, sum([actors, software]), half),
    ];
  });
}

function compare(
  { label, text }: { label: OpeningLabel; text: string },
  wantsActors: boolean,
  isPrinted: boolean,
): Counts {
  const found = extractNames(text)
    .filter((one) => isActor(one) === wantsActors)
    .map(({ name, aliases, printed }) => ({ name, keys: new Set([name, ...aliases, ...printed].map(nameKey)) }));
  const isOneOf = (names: LabeledName[], keys: Set<string>): boolean =>
    names.some((one) => isActor(one) === wantsActors && keys.has(nameKey(one.name)));
  const gold = label.names.filter((one) => isActor(one) === wantsActors);
  const missed = gold.filter(({ name }) => !found.some(({ keys }) => keys.has(nameKey(name))));
  const wrong = found.filter(({ keys }) => !isOneOf(gold, keys) && !isOneOf(label.arguable ?? [], keys));
  if (isPrinted && missed.length + wrong.length > 0)
    console.log(
      `${label.address.slice(0, 60)} | wrong: ${wrong.map(({ name }) => name).join(', ')} | missed: ${missed.map(({ name }) => name).join(', ')}`,
    );
  return { right: gold.length - missed.length, wrong: wrong.length, missed: missed.length };
}

const sum = (counts: Counts[]): Counts => ({
  right: counts.reduce((total, { right }) => total + right, 0),
  wrong: counts.reduce((total, { wrong }) => total + wrong, 0),
  missed: counts.reduce((total, { missed }) => total + missed, 0),
});

const target = 0.85;

function createFigure(name: string, { right, wrong, missed }: Counts, half: string): QualityFigure {
  const score = (2 * right) / (2 * right + wrong + missed);
  const measured = `F1 ${score.toFixed(3)}, precision ${formatRatio(right, right + wrong)}, recall ${formatRatio(right, right + missed)} (${right} right, ${wrong} wrong, ${missed} missed)`;
  if (half !== 'held-out half') return { name, measured };
  return { name, measured, target: `F1 ≥ ${target}`, isMet: score >= target };
}
