import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { extractItem } from '../src/feed/extraction/extract-item.ts';
import { formatRatio, type QualityFigure } from './figures.ts';

/** The parent techniques of what a report states plainly, labeled from its text before the extraction was run on it. */
type TechniqueLabel = {
  address: string;
  publisher: string;
  date?: string;
  techniques: string[];
  /** Parent techniques that a second reader may or may not label. They count neither as right nor as wrong. */
  arguable?: string[];
};
type Comparison = { right: string[]; wrong: string[]; missed: string[] };

const minimum = { precision: 0.75, recall: 0.72 };
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Reports whose address has an odd first hexadecimal digit of its SHA-256. The rules are written without them. */
const isHeldOut = ({ address }: TechniqueLabel): boolean => Number.parseInt(sha256(address)[0]!, 16) % 2 === 1;

/**
 * Measures the techniques of the prose of long reports. `folder` contains one text file per report, named by the first 16 digits of the
 * SHA-256 of its address. Reports without a text there are listed and not measured.
 */
export async function measureTechniqueReports(verbose: boolean, folder?: string): Promise<QualityFigure[]> {
  const labels = JSON.parse(
    readFileSync(new URL('technique-labels.json', import.meta.url), 'utf8'),
  ) as TechniqueLabel[];
  const compared: { label: TechniqueLabel; comparison: Comparison }[] = [];
  for (const label of labels) {
    const file = `${sha256(label.address).slice(0, 16)}.txt`;
    const path = folder && join(folder, file);
    if (!path || !existsSync(path)) {
      console.log(`No text: ${file} ${label.address}`);
      continue;
    }
    const item = extractItem({ text: readFileSync(path, 'utf8'), sourceUrl: label.address });
    const found = new Set(item.classification.attack.map(({ technique }) => technique));
    const comparison = compareTechniques(label, found);
    compared.push({ label, comparison });
    if (verbose && !isHeldOut(label)) printErrors(label, comparison);
  }
  const heldOut = compared.filter(({ label }) => isHeldOut(label));
  const developed = compared.filter(({ label }) => !isHeldOut(label));
  return [
    ...createFigure(
      'half of rule writing',
      developed.map(({ comparison }) => comparison),
    ),
    ...createFigure(
      'held-out half',
      heldOut.map(({ comparison }) => comparison),
    ).map(addTarget),
  ];
}

function compareTechniques({ techniques, arguable = [] }: TechniqueLabel, found: ReadonlySet<string>): Comparison {
  const neither = new Set([...techniques, ...arguable]);
  return {
    right: techniques.filter((id) => found.has(id)),
    wrong: [...found].filter((id) => !neither.has(id)),
    missed: techniques.filter((id) => !found.has(id)),
  };
}

type Figure = QualityFigure & { precision: number; recall: number };

function createFigure(half: string, compared: Comparison[]): Figure[] {
  if (compared.length === 0) return [];
  const count = (name: keyof Comparison): number => compared.reduce((sum, one) => sum + one[name].length, 0);
  const [right, wrong, missed] = [count('right'), count('wrong'), count('missed')];
  return [
    {
      name: `${half}, ${compared.length} reports: techniques, by parent`,
      measured: `precision ${formatRatio(right, right + wrong)}, recall ${formatRatio(right, right + missed)} (${right} right, ${wrong} wrong, ${missed} missed)`,
      precision: right / (right + wrong),
      recall: right / (right + missed),
    },
  ];
}

const addTarget = ({ name, measured, precision, recall }: Figure): QualityFigure => ({
  name,
  measured,
  target: `≥ ${minimum.precision}, ≥ ${minimum.recall}`,
  isMet: precision >= minimum.precision && recall >= minimum.recall,
});

function printErrors({ address }: TechniqueLabel, { wrong, missed }: Comparison): void {
  if (wrong.length + missed.length > 0)
    console.log(`${address}\n  wrong: ${wrong.join(', ')} | missed: ${missed.join(', ')}`);
}
