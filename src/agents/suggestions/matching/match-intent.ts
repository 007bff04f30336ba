import { checkLogs, readKnownColumns, type KnownColumns } from '../../../detection/library/list-library.ts';
import type { DatasetNames, LibraryEntry } from '../../../detection/library/load-library.ts';
import { type DetectionDraft, draftShippedDetection } from '../draft.ts';
import { logKinds, type LogDataset } from '../log-kinds.ts';
import { compileTemplate, type QueryTemplate } from '../templates/query-templates.ts';
import { rankSources, type RankedSource } from './rank-sources.ts';

/** A shipped detection or query template for an intent, with the drafts that the organization's datasets allow. */
export type IntentMatch = {
  kind: 'shipped' | 'template';
  id: string;
  name: string;
  description: string;
  /** The words and the technique of the intent that match. */
  matched: string[];
  /** Empty if a dataset is missing. A template has one for each dataset that it can read. */
  drafts: DetectionDraft[];
  /** The dataset or fields that are missing, with the products that send them in parentheses. Null if nothing is missing. */
  missing: string | null;
};

/**
 * `answers` fit the intent: those for which all logs exist first, then those that lack fields, then those that lack a dataset. `nearest` are
 * the next best. `unknown` are the words of the intent that nothing shipped contains.
 */
export type IntentMatches = { answers: IntentMatch[]; nearest: IntentMatch[]; unknown: string[] };

// The numbers were chosen on the intents `work` of quality/detections/intents.yaml.
const fitMin = 3.5;
/** The share of the best score that others need to answer the same intent. */
const closeShare = 0.75;
const rankedMax = 6;
const nearestMax = 3;
const nearestScoreMin = 1;

/** Returns the shipped detections and query templates that fit an intent, and the nearest ones. */
export function matchIntent(intent: string, datasets: readonly LogDataset[]): IntentMatches {
  const { ranked, unknown } = rankSources(intent);
  const known = readKnownColumns({ datasets });
  const scoreMin = (ranked[0]?.score ?? 0) * closeShare;
  const best = ranked
    .filter(({ score }) => score >= nearestScoreMin)
    .slice(0, rankedMax)
    .map((one) => ({
      match: toMatch(one, datasets, known),
      isFit: one.fit >= fitMin && (one.score >= scoreMin || one.isStated),
    }));
  const answers = best.filter(({ isFit }) => isFit).map(({ match }) => match);
  const sorted = answers.toSorted((a, b) => rankReadiness(a) - rankReadiness(b));
  const others = best.filter(({ isFit }) => !isFit).map(({ match }) => match);
  return { answers: sorted, nearest: [...sorted.slice(1), ...others].slice(0, nearestMax), unknown };
}

const rankReadiness = ({ drafts, missing }: IntentMatch): number => (missing === null ? 0 : drafts.length > 0 ? 1 : 2);

function toMatch(ranked: RankedSource, datasets: readonly LogDataset[], known: KnownColumns): IntentMatch {
  const { source, matched } = ranked;
  const technique = ranked.technique ?? '';
  const exact = source.techniques.includes(technique) ? technique : (source.techniques[0] ?? null);
  return source.kind === 'shipped'
    ? { ...matchShipped(source.entry, exact, known), matched }
    : { ...matchTemplate(source.template, exact!, datasets), matched };
}

type UnmatchedIntent = Omit<IntentMatch, 'matched'>;

function matchShipped(entry: LibraryEntry, technique: string | null, known: KnownColumns): UnmatchedIntent {
  const { id, body, logSource } = entry;
  const names = findOtherNames(entry, known);
  const { datasets } = checkLogs(entry, names, known);
  const source = describeSource(logSource);
  const absent = datasets.filter(({ isPresent }) => !isPresent).map(({ dataset }) => dataset);
  const fields = datasets.flatMap((one) => one.fields.filter(({ isPresent }) => !isPresent).map(({ name }) => name));
  return {
    kind: 'shipped',
    id,
    name: body.name,
    description: body.description ?? '',
    drafts: absent.length > 0 ? [] : [draftShippedDetection(entry, technique, names)],
    missing:
      absent.length > 0
        ? `the dataset ${absent.join(' and ')} (${source})`
        : fields.length > 0
          ? `the field ${fields.join(' and ')} (${source})`
          : null,
  };
}

/** Returns the log source of a shipped detection and how it gets here, to stand in parentheses. */
const describeSource = ({ product, service, setup = '' }: LibraryEntry['logSource']): string =>
  `${product} ${service}: ${setup}`.replace(/(: |\.)$/, '');

/** An organization can call a dataset otherwise. Fewer fields than this do not identify it. */
const identifyingFieldsMin = 2;

/** Returns the datasets that stand in for those of the library that do not exist: the only one that has all of its fields. */
function findOtherNames({ datasets }: LibraryEntry, known: KnownColumns): DatasetNames {
  const others = Object.entries(datasets).flatMap(([name, fields]) => {
    if (known.has(name) || fields.length < identifyingFieldsMin) return [];
    const found = [...known.keys()].filter((candidate) => {
      const check = checkLogs({ datasets: { [name]: fields } }, { [name]: candidate }, known);
      return check.isReady;
    });
    return found.length === 1 ? [[name, found[0]!] as const] : [];
  });
  return Object.fromEntries(others);
}

function matchTemplate(template: QueryTemplate, technique: string, datasets: readonly LogDataset[]): UnmatchedIntent {
  const { id, name, kind } = template;
  const drafts = datasets.flatMap((dataset) => compileTemplate(template, dataset, technique) ?? []);
  const { source } = logKinds[kind];
  const missing = drafts.length > 0 ? null : `a dataset of ${source}`;
  return { kind: 'template', id, name, description: `Reads ${source}.`, drafts, missing };
}
