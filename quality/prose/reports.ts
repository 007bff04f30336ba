import { extractItem, type ExtractedItem } from '../../src/feed/extraction/extract-item.ts';
import { buckets, severities, type Severity } from '../../src/feed/model/vocabulary.ts';
import { nameKey } from '../../src/feed/reference-data/name-forms.ts';
import { formatPrecisionAndRecall, formatRatio, type QualityFigure } from '../figures.ts';
import { isHeldOutAddress, readLabeledText, readLabels, textFileOf } from './labeled-texts.ts';
import { isSameProduct } from './product-comparison.ts';

/** The facts of a report, labeled from its text before the extraction was run on it. The text itself is not part of this repository. */
type ReportLabel = {
  address: string;
  publisher: string;
  /** The date that the text or the address states. */
  date?: string;
  severity: Severity;
  reason: string;
  /** Active addresses, hosts, links and hashes, refanged. */
  indicators?: string[];
  files?: string[];
  names?: { kind: 'actor' | 'malware' | 'tool'; name: string }[];
  /** Parent techniques of what the text states plainly. */
  techniques?: string[];
  products?: string[];
  vulnerabilities?: string[];
  /** Values of any field that a second reader may or may not label. They count neither as right nor as wrong. */
  arguable?: string[];
};
type ReadReport = { label: ReportLabel; item: ExtractedItem };
type Comparison = { right: string[]; wrong: string[]; missed: string[] };
type Field = {
  name: string;
  compare: (report: ReadReport) => Comparison;
  minimum?: { precision: number; recall: number };
};

const isHeldOut = ({ address }: ReportLabel): boolean => isHeldOutAddress(address);

const fields: Field[] = [
  { name: 'publisher', compare: (report) => comparePublisher(report) },
  { name: 'date', compare: (report) => compareDate(report) },
  { name: 'active indicators (addresses, hosts, links, hashes)', compare: (report) => compareIndicators(report) },
  { name: 'active file names and paths', compare: (report) => compareFiles(report) },
  { name: 'actors', compare: (report) => compareNames(report, 'actor') },
  { name: 'malware and tools', compare: (report) => compareNames(report, 'software') },
  {
    name: 'techniques, by parent',
    compare: (report) => compareTechniques(report),
    minimum: { precision: 0.75, recall: 0.72 },
  },
  { name: 'products', compare: (report) => compareProducts(report) },
  { name: 'vulnerabilities', compare: (report) => compareVulnerabilities(report) },
];

/**
 * Measures precision and recall of each field on labeled public reports. Reports without a text in
 * `folder` are listed and not measured.
 */
export async function measureReports(verbose: boolean, folder?: string): Promise<QualityFigure[]> {
  const labels = readLabels<ReportLabel>('report-labels.json');
  const reports = labels.flatMap((label): ReadReport[] => {
    const text = readLabeledText(folder, label.address);
    return text === undefined ? [] : [{ label, item: extractItem({ text, sourceUrl: label.address }) }];
  });
  const read = new Set(reports.map(({ label }) => label));
  const absent = labels.filter((label) => !read.has(label));
  if (absent.length > 0) console.log(`No text for ${absent.length} of ${labels.length} labeled reports:`);
  for (const { address } of absent) console.log(`  ${textFileOf(address)} ${address}`);
  if (verbose) for (const report of reports) if (!isHeldOut(report.label)) printErrors(report);
  const halves = [
    ['half of rule writing', reports.filter(({ label }) => !isHeldOut(label))],
    ['held-out half', reports.filter(({ label }) => isHeldOut(label))],
  ] as const;
  return halves.flatMap(([half, some]) =>
    some.length === 0
      ? []
      : [...fields.map((field) => createFieldFigure(field, half, some)), createSeverityFigure(half, some)],
  );
}

function createFieldFigure(field: Field, half: string, reports: ReadReport[]): QualityFigure {
  const sum = { right: 0, wrong: 0, missed: 0 };
  for (const report of reports) {
    const { right, wrong, missed } = field.compare(report);
    sum.right += right.length;
    sum.wrong += wrong.length;
    sum.missed += missed.length;
  }
  const { right, wrong, missed } = sum;
  const measured = formatPrecisionAndRecall({ right, wrong, missed });
  const name = `${half}, ${reports.length} reports: ${field.name}`;
  if (!field.minimum || half !== 'held-out half') return { name, measured };
  const { precision, recall } = field.minimum;
  return {
    name,
    measured,
    target: `≥ ${precision}, ≥ ${recall}`,
    isMet: right >= precision * (right + wrong) && right >= recall * (right + missed),
  };
}

function createSeverityFigure(half: string, reports: ReadReport[]): QualityFigure {
  const right = reports.filter(({ label, item }) => label.severity === item.severity).length;
  const below = reports.filter(({ label }) => severities.indexOf(label.severity) <= severities.indexOf('medium'));
  const overrated = below.filter(({ item }) => item.severity === 'critical').length;
  return {
    name: `${half}, ${reports.length} reports: severity`,
    measured: `accuracy ${formatRatio(right, reports.length)} (${right}/${reports.length}), critical where the label is medium or below: ${overrated} of ${below.length}`,
    ...(half === 'held-out half'
      ? { target: '≥ 0.8, 0', isMet: right >= 0.8 * reports.length && overrated === 0 }
      : {}),
  };
}

/** Compares two sets of values. `isSame` decides whether a found value is a labeled one. */
function compareValues(
  { label }: ReadReport,
  found: string[],
  gold: string[],
  isSame: (one: string, other: string) => boolean,
): Comparison {
  const isArguable = (value: string): boolean => (label.arguable ?? []).some((one) => isSame(value, one));
  const right = gold.filter((one) => found.some((value) => isSame(value, one)));
  const wrong = found.filter((value) => !gold.some((one) => isSame(value, one)) && !isArguable(value));
  return { right, wrong, missed: gold.filter((one) => !right.includes(one)) };
}

const equals = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
const listActive = ({ iocs }: ExtractedItem, isWanted: (bucket: string) => boolean): string[] =>
  buckets
    .filter(isWanted)
    .flatMap((bucket) => iocs[bucket])
    .filter(({ status }) => status === 'active')
    .map(({ normalizedValue }) => normalizedValue);

function comparePublisher(report: ReadReport): Comparison {
  const { publisher } = report.item;
  const isSame = (one: string, other: string): boolean =>
    one.split(/[./]/).some((part) => nameKey(part) === nameKey(other)) || nameKey(one) === nameKey(other);
  return compareValues(report, publisher ? [publisher] : [], [report.label.publisher], isSame);
}

function compareDate(report: ReadReport): Comparison {
  const { publishTime } = report.item;
  const { date } = report.label;
  return compareValues(report, publishTime ? [publishTime.slice(0, 10)] : [], date ? [date] : [], equals);
}

/** The host of a labeled link is neither right nor wrong. */
function compareIndicators(report: ReadReport): Comparison {
  const gold = report.label.indicators ?? [];
  const hosts = new Set(gold.flatMap((value) => (URL.canParse(value) ? new URL(value).hostname : [])));
  const found = listActive(report.item, (bucket) => ['ipv4', 'ipv6', 'domains', 'urls', 'hashes'].includes(bucket));
  return compareValues(
    report,
    found.filter((value) => gold.includes(value) || !hosts.has(value)),
    gold,
    equals,
  );
}

const compareFiles = (report: ReadReport): Comparison =>
  compareValues(
    report,
    listActive(report.item, (bucket) => bucket === 'files'),
    report.label.files ?? [],
    equals,
  );

function compareNames(report: ReadReport, kind: 'actor' | 'software'): Comparison {
  const { actor, malware } = report.item.classification;
  const entries = kind === 'actor' ? actor : malware;
  const forms = new Map(entries.map(({ name, aliases }) => [name, [name, ...(aliases ?? [])].map(nameKey)]));
  const gold = (report.label.names ?? []).filter((one) => (one.kind === 'actor') === (kind === 'actor'));
  return compareValues(
    report,
    entries.map(({ name }) => name),
    gold.map(({ name }) => name),
    (value, other) => forms.get(value)?.includes(nameKey(other)) ?? false,
  );
}

const compareTechniques = (report: ReadReport): Comparison =>
  compareValues(
    report,
    [...new Set(report.item.classification.attack.map(({ technique }) => technique))],
    report.label.techniques ?? [],
    equals,
  );

function compareProducts(report: ReadReport): Comparison {
  const found = report.item.affectedProducts.map(({ vendor, product }) => `${vendor} ${product}`);
  return compareValues(report, found, report.label.products ?? [], isSameProduct);
}

function compareVulnerabilities(report: ReadReport): Comparison {
  const found = report.item.classification.mappings.filter(({ framework }) => framework === 'cve').map(({ id }) => id);
  return compareValues(report, found, report.label.vulnerabilities ?? [], equals);
}

function printErrors(report: ReadReport): void {
  const { label, item } = report;
  console.log(`\n${label.address}`);
  for (const { name, compare } of fields) {
    const { wrong, missed } = compare(report);
    if (wrong.length > 0 || missed.length > 0)
      console.log(`  ${name} | wrong: ${wrong.join(', ')} | missed: ${missed.join(', ')}`);
  }
  if (label.severity !== item.severity)
    console.log(`  severity | ${label.severity} → ${item.severity} (${item.severityRule}) | ${label.reason}`);
}
