import { extractItem } from '../src/feed/extraction/extract-item.ts';
import { formatPrecisionAndRecall, type QualityFigure } from './figures.ts';
import { isHeldOutAddress, readLabeledText, readLabels, textFileOf } from './labeled-texts.ts';

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

const isHeldOut = ({ address }: TechniqueLabel): boolean => isHeldOutAddress(address);

/**
 * Measures the techniques of the prose of long reports. Reports without a text in `folder` are listed and not measured.
 */
export async function measureTechniqueReports(verbose: boolean, folder?: string): Promise<QualityFigure[]> {
  const compared: { label: TechniqueLabel; comparison: Comparison }[] = [];
  for (const label of readLabels<TechniqueLabel>('technique-labels.json')) {
    const text = readLabeledText(folder, label.address);
    if (text === undefined) {
      console.log(`No text: ${textFileOf(label.address)} ${label.address}`);
      continue;
    }
    const item = extractItem({ text, sourceUrl: label.address });
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
      measured: formatPrecisionAndRecall({ right, wrong, missed }),
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
