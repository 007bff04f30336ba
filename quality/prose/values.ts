import { isIP } from 'node:net';
import { extractItem, type ExtractedItem } from '../../src/feed/extraction/extract-item.ts';
import { extractUrlHost } from '../../src/platform/lib/outbound-http/addresses.ts';
import { canonicalize } from '../../src/feed/extraction/indicators/indicator-candidate.ts';
import { htmlToText } from '../../src/feed/formats/rss/html-text.ts';
import { formatPrecisionAndRecall, type QualityFigure } from '../figures.ts';
import { isHeldOutAddress, readLabeledText, readLabels } from './labeled-texts.ts';
import { renderReport } from './render-report.ts';

/** The values of a report, labeled from its text before the extraction was run on it. The text itself is not part of this repository. */
type ValueLabel = {
  address: string;
  publisher: string;
  /** Active addresses, hosts, links and hashes, refanged. */
  indicators: string[];
  files?: string[];
  /** Values that a second reader may or may not label. They count neither as right nor as wrong. */
  arguable?: string[];
};
type LabeledText = { label: ValueLabel; text: string };

const isHeldOut = ({ address }: ValueLabel): boolean => isHeldOutAddress(address);

/** Reads the labeled reports whose texts are in a folder. */
function readLabeledTexts(folder: string | undefined): LabeledText[] {
  const labels = readLabels<ValueLabel>('value-labels.json');
  const texts = labels.flatMap((label): LabeledText[] => {
    const text = readLabeledText(folder, label.address);
    return text === undefined ? [] : [{ label, text }];
  });
  console.log(`${texts.length} of ${labels.length} labeled texts are in the folder.`);
  return texts;
}

const renderings = ['text', 'html'] as const;
type Rendering = (typeof renderings)[number];

/**
 * Measures precision and recall of active values by bucket on labeled public reports, as text and as the typeset HTML that a feed delivers.
 * `folder` contains the texts.
 */
export async function measureValues(verbose: boolean, folder?: string): Promise<QualityFigure[]> {
  const texts = readLabeledTexts(folder);
  const halves = [
    ['half of rule writing', texts.filter(({ label }) => !isHeldOut(label))],
    ['held-out half', texts.filter(({ label }) => isHeldOut(label))],
  ] as const;
  return halves.flatMap(([half, some]) =>
    renderings.flatMap((rendering) => {
      const isPrinted = verbose && half === 'half of rule writing';
      const sums = compareTexts(some, rendering, isPrinted);
      return [...sums].map(([bucket, sum]) =>
        createFigure(`${half}, ${some.length} reports, ${rendering}: ${bucket}`, sum),
      );
    }),
  );
}

/** Compares the values of all texts with their labels, by bucket. Prints the errors if `isPrinted`. */
function compareTexts(texts: LabeledText[], rendering: Rendering, isPrinted: boolean): Map<string, Comparison> {
  const sums = new Map<string, Comparison>();
  for (const { label, text } of texts) {
    const item = extractItem({ text: renderAs(rendering, text), sourceUrl: label.address });
    for (const [bucket, { right, wrong, missed }] of compareValues(label, item)) {
      const sum = sums.get(bucket) ?? { right: [], wrong: [], missed: [] };
      sum.right.push(...right);
      sum.wrong.push(...wrong);
      sum.missed.push(...missed);
      sums.set(bucket, sum);
      if (isPrinted && wrong.length + missed.length > 0)
        console.log(
          `${label.address}\n  ${rendering}, ${bucket} | wrong: ${wrong.join(', ')} | missed: ${missed.join(', ')}`,
        );
    }
  }
  return sums;
}

const renderAs = (rendering: Rendering, text: string): string =>
  rendering === 'text' ? text : htmlToText(renderReport(text));

type Comparison = { right: string[]; wrong: string[]; missed: string[] };

function createFigure(name: string, { right, wrong, missed }: Comparison): QualityFigure {
  const counts = { right: right.length, wrong: wrong.length, missed: missed.length };
  return { name, measured: formatPrecisionAndRecall(counts) };
}

const networkBuckets = ['ipv4', 'ipv6', 'domains', 'urls', 'hashes'] as const;

/** Compares the active values of an item with the labels, by bucket. The host of a labeled link is neither right nor wrong. */
function compareValues(label: ValueLabel, item: ExtractedItem): Map<string, Comparison> {
  const gold = new Map<string, Set<string>>();
  const addGold = (bucket: string, value: string): void => {
    gold.set(bucket, (gold.get(bucket) ?? new Set()).add(value));
  };
  for (const value of label.indicators) addGold(...classify(value));
  for (const value of label.files ?? []) addGold('files', key(value));
  const hosts = new Set([...(gold.get('urls') ?? [])].map((url) => extractUrlHost(url)));
  const arguable = new Set(
    (label.arguable ?? []).flatMap((value) => [key(value), classify(value)[1], extractUrlHost(classify(value)[1])]),
  );
  // With a port, the address of a labeled host is extracted as a link too.
  const isPort = (value: string): boolean =>
    gold.get('domains')?.has(/^http:\/\/([^/]+):\d+$/.exec(value)?.[1] ?? '') ?? false;
  const compared = new Map<string, Comparison>();
  for (const bucket of [...networkBuckets, 'files'] as const) {
    const found = new Set(
      item.iocs[bucket].filter(({ status }) => status === 'active').map(({ normalizedValue }) => key(normalizedValue)),
    );
    const wanted = gold.get(bucket) ?? new Set<string>();
    const isNeutral = (value: string): boolean =>
      arguable.has(value) || (bucket !== 'files' && hosts.has(value)) || isPort(value);
    const comparison = {
      right: [...wanted].filter((value) => found.has(value)),
      wrong: [...found].filter((value) => !wanted.has(value) && !isNeutral(value)),
      missed: [...wanted].filter((value) => !found.has(value)),
    };
    if (Object.values(comparison).some((values) => values.length > 0)) compared.set(bucket, comparison);
  }
  return compared;
}

/** Returns the comparison form of a value: lower case, without the slash at its end. */
const key = (value: string): string => value.toLowerCase().replace(/\/$/, '');

function classify(value: string): [bucket: string, normalizedValue: string] {
  if (/^[0-9a-f]{32,128}$/i.test(value)) return ['hashes', key(value)];
  if (isIP(value) > 0) return [`ipv${isIP(value)}`, value];
  if (/^[\w.-]+$/.test(value)) return ['domains', key(value)];
  const url = /^\w+:\/\//.test(value) ? value : `http://${value}`;
  return ['urls', key(canonicalize('url', url) ?? url)];
}
