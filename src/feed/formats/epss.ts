import { decodeUtf8 } from '../../platform/lib/json/json-values.ts';
import { type PredictionList, parseInstant } from '../model/source-record.ts';
import { cvePattern } from './record-fields.ts';
import type { SourceFormat } from './source-format.ts';
import { ExternalError } from '../../platform/lib/external-error.ts';

const rowsMax = 2_000_000;
const rowsPerBatch = 5_000;

/** The daily scores of the Exploit Prediction Scoring System (https://www.first.org/epss/data_stats) in CSV, gzipped or not. They become no items. */
export const epss: SourceFormat = {
  label: 'Exploit Prediction Scoring System (EPSS)',
  defaults: { publisher: 'FIRST', tlp: 'CLEAR', reliability: 0.9, schedule: '0 6 * * *' },
  files: /\.csv(?:\.gz)?$/i,
  parse(parts) {
    if (parts.length !== 1) throw new ExternalError('EPSS scores are a single document, not a directory');
    const { predictions, invalid } = readScores(decodeUtf8(parts[0]!.bytes));
    const skipped = invalid === 0 ? [] : [{ entry: `${invalid} rows`, reason: 'have no valid CVE and scores' }];
    return { records: [], predictions, skipped };
  },
};

/** Reads `#model_version:…,score_date:…`, the header `cve,epss,percentile` and the rows. */
function readScores(text: string): { predictions: PredictionList; invalid: number } {
  const [about = '', header = '', ...lines] = text.split(/\r?\n/);
  const scoredAt = parseInstant(/\bscore_date:([\d:TZ.+-]+)/.exec(about)?.[1]?.replace(/\+0000$/, 'Z'));
  if (!scoredAt || header.trim() !== 'cve,epss,percentile')
    throw new ExternalError('the document does not begin with a score_date and the columns cve,epss,percentile');
  if (lines.length > rowsMax) throw new ExternalError(`the document has more than ${rowsMax} rows`);
  const rows = new Map<string, [string, number, number]>();
  let invalid = 0;
  for (const line of lines) {
    if (line.trim() === '') continue;
    const [cve = '', probability, percentile] = line.split(',');
    const scores = [Number(probability), Number(percentile)] as const;
    if (cvePattern.test(cve) && scores.every((score) => score >= 0 && score <= 1)) rows.set(cve, [cve, ...scores]);
    else invalid += 1;
  }
  const all = [...rows.values()];
  const batches = Array.from({ length: Math.ceil(all.length / rowsPerBatch) }, (_, index) =>
    JSON.stringify(all.slice(index * rowsPerBatch, (index + 1) * rowsPerBatch)),
  );
  return { predictions: { scoredAt, count: all.length, batches }, invalid };
}
