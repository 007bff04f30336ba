import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { extractItem } from '../src/feed/extraction/extract-item.ts';
import { severities, type Severity } from '../src/feed/model/vocabulary.ts';
import type { QualityFigure } from './figures.ts';
import { readRecordedRows } from './recorded-inputs.ts';

/** The severity of a report by the rubric, labeled from its text before the rules were written. */
type SeverityLabel = {
  /** The address of the report, or its id in a collection without addresses. */
  source: string;
  publisher: string;
  date?: string;
  severity: Severity;
  reason: string;
  /** The recorded text. Without it, the text is the opening of the page, from the folder of report texts. */
  text?: string;
};
type RatedReport = { label: SeverityLabel; severity: Severity; rule: string };

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Reports whose address has an odd first hexadecimal digit of its SHA-256. The rules were written without them. */
const isHeldOut = ({ source }: SeverityLabel): boolean => Number.parseInt(sha256(source)[0]!, 16) % 2 === 1;

/**
 * Compares the severity of reports with labels. `folder` contains the openings of the reports that are not among the recorded inputs, one
 * text file per report with the first 16 digits of the SHA-256 of its address as its name.
 */
export async function measureSeverity(verbose: boolean, folder?: string): Promise<QualityFigure[]> {
  const labels = JSON.parse(readFileSync(new URL('severity-labels.json', import.meta.url), 'utf8')) as SeverityLabel[];
  const texts = readTexts(labels, folder);
  const rated = labels.flatMap((label): RatedReport[] => {
    const text = texts.get(label.source);
    if (text === undefined) return [];
    const { severity, severityRule } = extractItem({
      text,
      ...(label.date ? { publishTime: label.date } : {}),
      ...(/^https?:/.test(label.source) ? { sourceUrl: label.source } : {}),
    });
    return [{ label, severity, rule: severityRule }];
  });
  if (verbose)
    for (const { label, severity, rule } of rated.filter((one) => one.label.severity !== one.severity))
      if (!isHeldOut(label))
        console.log(`${label.severity} → ${severity} (${rule}) | ${label.source} | ${label.reason}`);
  const groups = [
    ['recorded reports', rated.filter(({ label }) => label.text)],
    ['openings of web pages', rated.filter(({ label }) => !label.text)],
    ['all', rated],
  ] as const;
  return groups
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
    const file = folder && join(folder, `${sha256(source).slice(0, 16)}.txt`);
    const content = text ? recorded.get(text) : file && existsSync(file) ? readFileSync(file, 'utf8') : undefined;
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
  return [
    { ...figure, target: `≥ ${target}`, isMet: right >= target * rated.length },
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
    measured: `${(right / Math.max(1, rated.length)).toFixed(3)} (${right}/${rated.length}: ${byLevel})`,
  };
}
