import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { hashFeatures, splitWords } from '../../src/feed/extraction/techniques/sentence-features.ts';
import { findSentences } from '../../src/feed/extraction/text/sentence-spans.ts';
import { findTechnique } from '../../src/feed/reference-data/attack.ts';

export type TrainingExample = { features: number[]; labels: string[] };
export type LabelledReport = {
  id: string;
  group: string;
  text: string;
  techniques: string[];
  examples: TrainingExample[];
};
type Row = {
  docId: string;
  twin?: string;
  text: string;
  techniques: string[];
  spans: { start: number; end: number; technique: string }[];
};

const readLines = <Value>(dir: string, name: string): Value[] =>
  gunzipSync(readFileSync(join(dir, name)))
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Value);

/** Maps ids of older ATT&CK versions to the pinned version. */
const forwardId = (id: string): string => findTechnique(id)?.id ?? id;
const distinct = (ids: string[]): string[] => [...new Set(ids.map(forwardId))];

/**
 * Reads the labelled reports, split into sentences, and skips one of two identical reports. A sentence gets the label of a span if they
 * share at least half of either.
 */
export function readReports(dir: string): LabelledReport[] {
  const rows = readLines<Row>(dir, 'feed/tram/reports.ndjson.gz').filter(({ docId, twin }) => !twin || docId < twin);
  return rows.map(({ docId, text, techniques, spans }) => ({
    id: docId,
    group: docId,
    text,
    techniques: distinct(techniques),
    examples: findSentences(text).map((sentence) => ({
      features: hashFeatures(splitWords(sentence.text)),
      labels: distinct(
        spans
          .filter((span) => {
            const shared = Math.min(span.end, sentence.end) - Math.max(span.start, sentence.start);
            return (
              shared > 0 && (shared >= (span.end - span.start) / 2 || shared >= (sentence.end - sentence.start) / 2)
            );
          })
          .map(({ technique }) => technique),
      ),
    })),
  }));
}

/** Reads the procedure sentences of ATT&CK. */
export const readProcedures = (dir: string): TrainingExample[] =>
  readLines<{ technique: string; text: string }>(dir, 'knowledge/attack-sentences.ndjson.gz').map(
    ({ technique, text }) => ({
      features: hashFeatures(splitWords(text)),
      labels: distinct([technique]),
    }),
  );
