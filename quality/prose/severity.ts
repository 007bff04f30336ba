import { extractItem } from '../../src/feed/extraction/extract-item.ts';
import { severities, type Severity } from '../../src/feed/model/vocabulary.ts';
import { formatPrecisionAndRecall, type QualityFigure } from '../figures.ts';
import { isHeldOutAddress, readLabeledText, readLabels } from './labeled-texts.ts';
import { readRecordedRows } from '../recorded-inputs.ts';

/** The severity of a report by the rubric, labeled from its text before the rules were written. */
type SeverityLabel = {
  /** The address of the report, or its id in a collection without addresses. */
  source: string;
  publisher: string;
  date?: string;
  severity: Severity;
  /** A second level that the rubric allows, too. The accuracy does not count it. */
  alternative?: Severity;
  reason: string;
  /** The half, if it does not follow from the address because the errors were examined, or the whole collection was held out. */
  half?: 'writing' | 'held-out';
  /** Parent techniques of what the text states plainly. They are labeled for some of the openings. */
  techniques?: string[];
  /** Techniques that a second reader may or may not label. They count neither as right nor as wrong. */
  arguable?: string[];
  /** The recorded text. Without it, the text is the opening of the page, from the folder of report texts. */
  text?: string;
};
type RatedReport = { label: SeverityLabel; severity: Severity; rule: string; techniques: string[] };

const isHeldOut = ({ source, half }: SeverityLabel): boolean => (half ? half === 'held-out' : isHeldOutAddress(source));

/**
 * Compares the severity of reports with labels. `folder` contains the openings of the reports that are not among the recorded inputs.
 */
export async function measureSeverity(verbose: boolean, folder?: string): Promise<QualityFigure[]> {
  const labels = readLabels<SeverityLabel>('severity-labels.json');
  const texts = readTexts(labels, folder);
  const rated = labels.flatMap((label): RatedReport[] => {
    const text = texts.get(label.source);
    if (text === undefined) return [];
    const { severity, severityRule, classification } = extractItem({
      text,
      ...(label.date ? { publishTime: label.date } : {}),
      ...(/^https?:/.test(label.source) ? { sourceUrl: label.source } : {}),
    });
    const techniques = [...new Set(classification.attack.map(({ technique }) => technique))];
    return [{ label, severity, rule: severityRule, techniques }];
  });
  if (verbose) for (const report of rated) if (!isHeldOut(report.label)) printErrors(report);
  const groups = [
    ['recorded reports', rated.filter(({ label }) => label.text)],
    ['openings of web pages', rated.filter(({ label }) => !label.text)],
    ['all', rated],
  ] as const;
  const figures = groups
    .filter(([, all]) => all.length > 0)
    .flatMap(([name, all]) => [
      accuracyFigure(
        `${name}, half of rule writing`,
        all.filter(({ label }) => !isHeldOut(label)),
      ),
      ...heldOutFigures(
        name,
        all.filter(({ label }) => isHeldOut(label)),
      ),
    ]);
  return [...figures, ...techniqueFigures(rated)];
}

function printErrors(report: RatedReport): void {
  const { label, severity, rule } = report;
  if (label.severity !== severity)
    console.log(`${label.severity} → ${severity} (${rule}) | ${label.source} | ${label.reason}`);
  const { wrong, missed } = compareTechniques(report);
  if (wrong.length + missed.length > 0)
    console.log(`techniques | wrong: ${wrong.join(', ')} | missed: ${missed.join(', ')} | ${label.source}`);
}

function compareTechniques({ label, techniques }: RatedReport): { right: string[]; wrong: string[]; missed: string[] } {
  const gold = label.techniques ?? techniques;
  return {
    right: gold.filter((id) => techniques.includes(id)),
    wrong: techniques.filter((id) => !gold.includes(id) && !label.arguable?.includes(id)),
    missed: gold.filter((id) => !techniques.includes(id)),
  };
}

function techniqueFigures(rated: RatedReport[]): QualityFigure[] {
  const labeled = rated.filter(({ label }) => label.techniques);
  if (labeled.length === 0) return [];
  return ['half of rule writing', 'held-out half'].map((half): QualityFigure => {
    const reports = labeled.filter(({ label }) => isHeldOut(label) === (half === 'held-out half'));
    const sum = { right: 0, wrong: 0, missed: 0 };
    for (const report of reports) {
      const { right, wrong, missed } = compareTechniques(report);
      sum.right += right.length;
      sum.wrong += wrong.length;
      sum.missed += missed.length;
    }
    const { right, wrong, missed } = sum;
    const measured = formatPrecisionAndRecall({ right, wrong, missed });
    const name = `${half}, ${reports.length} openings of web pages: techniques, by parent`;
    if (half !== 'held-out half') return { name, measured };
    return {
      name,
      measured,
      target: '≥ 0.75, ≥ 0.72',
      isMet: right >= 0.75 * (right + wrong) && right >= 0.72 * (right + missed),
    };
  });
}

function readTexts(labels: SeverityLabel[], folder: string | undefined): Map<string, string> {
  const recorded = new Map<string, string>([
    ...readRecordedRows<{ docId: string; text: string }>('feed/tram/reports.ndjson.gz').map(
      // The first two lines repeat the title and the address.
      ({ docId, text }) => [`tram/${docId}`, text.replace(/^title: (.*)\nurl: .*\n/, '$1\n')] as const,
    ),
    ...readRecordedRows<{ docId: string; text: string }>('feed/annoctr/dev.ndjson.gz').map(
      ({ docId, text }) => [`annoctr/${docId}`, text] as const,
    ),
  ]);
  const texts = new Map<string, string>();
  for (const { source, text } of labels) {
    const content = text ? recorded.get(text) : readLabeledText(folder, source);
    if (content !== undefined) texts.set(source, content);
  }
  return texts;
}

function heldOutFigures(name: string, rated: RatedReport[]): QualityFigure[] {
  const figure = accuracyFigure(`${name}, held-out half`, rated);
  const below = rated.filter(({ label }) => severities.indexOf(label.severity) <= severities.indexOf('medium'));
  const overrated = below.filter(({ severity }) => severity === 'critical').length;
  const target = 0.8;
  const right = rated.filter(({ label, severity }) => label.severity === severity).length;
  const allowed = rated.filter(({ label, severity }) => [label.severity, label.alternative].includes(severity)).length;
  return [
    { ...figure, target: `≥ ${target}`, isMet: right >= target * rated.length },
    ...(rated.some(({ label }) => label.alternative)
      ? [{ name: `${name}, held-out half: the label or its alternative`, measured: formatShare(allowed, rated.length) }]
      : []),
    {
      name: `${name}, held-out half: critical where the label is medium or below`,
      measured: `${overrated} of ${below.length}`,
      target: '0',
      isMet: overrated === 0,
    },
  ];
}

function accuracyFigure(name: string, rated: RatedReport[]): QualityFigure {
  const right = rated.filter(({ label, severity }) => label.severity === severity).length;
  const byLevel = severities
    .toReversed()
    .map((level) => {
      const labeled = rated.filter(({ label }) => label.severity === level);
      return `${level} ${labeled.filter(({ severity }) => severity === level).length}/${labeled.length}`;
    })
    .join(', ');
  return {
    name: `accuracy, ${name}`,
    measured: formatShare(right, rated.length, byLevel),
  };
}

const formatShare = (part: number, all: number, detail = ''): string =>
  `${(part / Math.max(1, all)).toFixed(3)} (${part}/${all}${detail && `: ${detail}`})`;
