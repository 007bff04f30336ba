import { extractItem, type ExtractedItem } from '../../src/feed/extraction/extract-item.ts';
import { formatPrecisionAndRecall, type QualityFigure } from '../figures.ts';
import { isHeldOutAddress, readLabeledText, readLabels, textFileOf } from './labeled-texts.ts';
import { isSameProduct } from './product-comparison.ts';

/** The parent techniques of what a report states plainly, labeled from its text before the extraction was run on it. */
type TechniqueLabel = {
  address: string;
  publisher: string;
  date?: string;
  techniques: string[];
  /** Parent techniques that a second reader may or may not label. They count neither as right nor as wrong, like the other arguable values. */
  arguable?: string[];
};
/** Of recent reports, also the day of publication that the text or the address states, the platforms and the affected products. */
type RecentLabel = TechniqueLabel & {
  published: string | null;
  platforms: string[];
  arguablePlatforms?: string[];
  products: string[];
  arguableProducts?: string[];
};
type Comparison = { right: string[]; wrong: string[]; missed: string[] };
type Compared = { label: TechniqueLabel | RecentLabel; of: Record<string, Comparison> };

const minimum = { precision: 0.75, recall: 0.72 };

const isRecent = (label: TechniqueLabel | RecentLabel): label is RecentLabel => 'published' in label;
const isHeldOut = ({ address }: TechniqueLabel): boolean => isHeldOutAddress(address);

/**
 * Measures the techniques of the prose of reports, and the dates, platforms and products of recent ones. Reports without a text in `folder`
 * are listed and not measured.
 */
export async function measureTechniqueReports(verbose: boolean, folder?: string): Promise<QualityFigure[]> {
  const compared: Compared[] = [];
  for (const label of readLabels<TechniqueLabel | RecentLabel>('technique-labels.json')) {
    const text = readLabeledText(folder, label.address);
    if (text === undefined) {
      console.log(`No text: ${textFileOf(label.address)} ${label.address}`);
      continue;
    }
    const of = compareItem(label, extractItem({ text, sourceUrl: label.address }));
    compared.push({ label, of });
    if (verbose && !isHeldOut(label)) printErrors(label, of);
  }
  const first = compared.filter(({ label }) => !isRecent(label));
  const recent = compared.filter(({ label }) => isRecent(label));
  return [
    ...createFigures('half of rule writing', first.filter(isDeveloped)),
    ...createFigures('held-out half', first.filter(isNotDeveloped)).map(addTarget),
    ...createFigures('recent, half of rule writing', recent.filter(isDeveloped)),
    ...createFigures('recent, held-out half', recent.filter(isNotDeveloped)),
  ];
}

const isDeveloped = ({ label }: Compared): boolean => !isHeldOut(label);
const isNotDeveloped = ({ label }: Compared): boolean => isHeldOut(label);

function compareItem(label: TechniqueLabel | RecentLabel, item: ExtractedItem): Record<string, Comparison> {
  const { classification, publishTime, affectedProducts } = item;
  const found = [...new Set(classification.attack.map(({ technique }) => technique))];
  const of: Record<string, Comparison> = { 'techniques, by parent': compare(label.techniques, found, label.arguable) };
  if (isRecent(label)) {
    const day = publishTime?.slice(0, 10);
    of['day of publication'] = compare(label.published ? [label.published] : [], day ? [day] : []);
    of['platforms'] = compare(label.platforms, classification.platforms, label.arguablePlatforms);
    const products = affectedProducts.map(({ vendor, product }) => `${vendor} ${product}`);
    of['products'] = compare(label.products, products, label.arguableProducts, isSameProduct);
  }
  return of;
}

function compare(
  labeled: string[],
  found: string[],
  arguable: string[] = [],
  isSame: (found: string, labeled: string) => boolean = (a, b) => a === b,
): Comparison {
  const isFound = (one: string): boolean => found.some((other) => isSame(other, one));
  return {
    right: labeled.filter(isFound),
    wrong: found.filter((one) => ![...labeled, ...arguable].some((other) => isSame(one, other))),
    missed: labeled.filter((one) => !isFound(one)),
  };
}

type Figure = QualityFigure & { precision: number; recall: number };

function createFigures(part: string, compared: Compared[]): Figure[] {
  return Object.keys(compared[0]?.of ?? {}).map((field) => {
    const count = (name: keyof Comparison): number =>
      compared.reduce((sum, { of }) => sum + of[field]![name].length, 0);
    const [right, wrong, missed] = [count('right'), count('wrong'), count('missed')];
    return {
      name: `${part}, ${compared.length} reports: ${field}`,
      measured: formatPrecisionAndRecall({ right, wrong, missed }),
      precision: right / (right + wrong),
      recall: right / (right + missed),
    };
  });
}

const addTarget = ({ name, measured, precision, recall }: Figure): QualityFigure => ({
  name,
  measured,
  target: `≥ ${minimum.precision}, ≥ ${minimum.recall}`,
  isMet: precision >= minimum.precision && recall >= minimum.recall,
});

function printErrors({ address }: TechniqueLabel, of: Record<string, Comparison>): void {
  for (const [field, { wrong, missed }] of Object.entries(of))
    if (wrong.length + missed.length > 0)
      console.log(`${address}\n  ${field}: wrong: ${wrong.join(', ')} | missed: ${missed.join(', ')}`);
}
