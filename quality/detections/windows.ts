import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSampleEngine, type SampleEvent, type SampleRow } from '../../src/demo/sample-engine.ts';
import { loadLibrary, type LibraryEntry } from '../../src/detection/library/load-library.ts';
import { benignWindowsEvents } from '../../test/support/detection/benign-windows.ts';
import { formatRatio, type QualityFigure } from '../figures.ts';
import { readRecordedJson, readRecordedRows, requireData } from '../recorded-inputs.ts';

/** The recordings that the detections were written with. The others were only measured. */
const seen = new Set([
  'SDWIN-190319020729',
  'SDWIN-190518182022',
  'SDWIN-200609225055',
  'SDWIN-200904032946',
  'SDWIN-201022025808',
]);

type Recording = { id: string; title: string; techniques: string[] };
/** One hit: what a detection of the library reports for an entity. `severity` is the highest of its rows. */
type Finding = { detection: string; entity: string; severity: string; techniques: string[] };
type SigmaCase = { ruleYaml: string; events: Record<string, unknown>[] };

const severities = ['low', 'medium', 'high', 'critical'];
const isLoud = ({ severity }: Finding): boolean => severity !== 'low';
const detections = [...loadLibrary().values()].filter(({ datasets }) => 'windows' in datasets);

/**
 * Runs the Windows detections of the library on recordings of single simulated techniques, on the events of Sigma's regression tests and on
 * benign events. A technique counts as found if a hit has it, its parent or one of its sub-techniques.
 */
export async function measureWindows(verbose: boolean): Promise<QualityFigure[]> {
  const folder = join(requireData(), 'logs/windows');
  const rows: { half: string; found: boolean; figure: QualityFigure }[] = [];
  for (const name of readdirSync(folder).toSorted()) {
    const recording = readRecordedJson<Recording>(`logs/windows/${name}/meta.json`);
    const findings = await findAll(readRecordedRows(`logs/windows/${name}/events.ndjson.gz`));
    rows.push(toRecordingRow(recording, findings));
    if (verbose) for (const finding of findings) console.log(recording.id, ...Object.values(finding));
  }
  const recallOf = (half: string): QualityFigure => {
    const list = rows.filter((row) => row.half === half);
    const found = list.filter((row) => row.found).length;
    return {
      name: `simulated techniques found, recordings ${half}`,
      measured: `${formatRatio(found, list.length)} (${found}/${list.length})`,
    };
  };
  const benign = await findAll(benignWindowsEvents);
  if (verbose) for (const finding of benign) console.log('benign', ...Object.values(finding));
  return [
    {
      name: 'detections for Windows hosts',
      measured: String(detections.length),
      target: '≥ 40',
      isMet: detections.length >= 40,
    },
    recallOf('used for writing'),
    recallOf('held back'),
    ...rows.map(({ figure }) => figure),
    {
      name: `hits above low on ${benignWindowsEvents.length} benign events`,
      measured: `${benign.filter(isLoud).length} (${benign.length} of severity low)`,
      target: '0',
      isMet: !benign.some(isLoud),
    },
    await measureSigmaCases(verbose),
  ];
}

function toRecordingRow(
  { id, title, techniques }: Recording,
  findings: Finding[],
): { half: string; found: boolean; figure: QualityFigure } {
  const matching = findings.filter((finding) => techniques.every((technique) => isCovered(finding, technique)));
  const other = findings.filter((finding) => isLoud(finding) && !matching.includes(finding));
  const half = seen.has(id) ? 'used for writing' : 'held back';
  const list = (found: Finding[]): string =>
    [...new Set(found.map(({ detection, severity }) => `${detection} (${severity})`))].join(', ') || 'none';
  return {
    half,
    found: matching.length > 0,
    figure: {
      name: `${id}, ${half}: ${title}, ${techniques.join(', ')}`,
      measured: `${list(matching)}; other hits above low: ${list(other)}`,
      isMet: matching.length > 0,
    },
  };
}

const parentOf = (technique: string): string => technique.split('.')[0]!;
const isCovered = ({ techniques }: Finding, technique: string): boolean =>
  techniques.some((found) => found === technique || found === parentOf(technique) || parentOf(found) === technique);

/** Runs every Windows detection on events and returns one finding per detection and entity. */
async function findAll(events: readonly Record<string, unknown>[]): Promise<Finding[]> {
  const engine = await openSampleEngine(events.map((event, n) => toSample(event, `event-${n}`)));
  try {
    const findings: Finding[] = [];
    for (const detection of detections)
      findings.push(...toFindings(detection, await engine.run(detection.body.detectionQuery)));
    return findings;
  } finally {
    engine.close();
  }
}

function toFindings({ id, body }: LibraryEntry, rows: SampleRow[]): Finding[] {
  const byEntity = Map.groupBy(rows, (row) => String(row[body.entityField!]));
  return [...byEntity].map(([entity, list]) => ({
    detection: id,
    entity,
    severity: severities.findLast((severity) => list.some((row) => row['severity'] === severity)) ?? 'low',
    techniques: [...new Set(list.map((row) => String(row['technique'])))],
  }));
}

async function measureSigmaCases(verbose: boolean): Promise<QualityFigure> {
  const cases = readRecordedRows<SigmaCase>('detections/sigma/regression.ndjson.gz').filter(({ ruleYaml }) =>
    /product: windows/.test(ruleYaml),
  );
  // The events of all cases go through the engine together. The id of an event starts with the number of its case.
  const events = cases.flatMap(({ events }, n) => events.map((event, m) => toSample(event, `${n}:${m}`)));
  const engine = await openSampleEngine(events);
  const found = new Set<number>();
  for (const { body } of detections)
    for (const row of await engine.run(body.detectionQuery))
      for (const id of [row['_id'], ...((row['_ids'] as unknown[] | undefined) ?? [])])
        if (typeof id === 'string') found.add(Number(id.split(':')[0]));
  engine.close();
  if (verbose)
    for (const [n, { ruleYaml }] of cases.entries())
      if (!found.has(n)) console.log('sigma case without a hit:', /title: (.*)/.exec(ruleYaml)?.[1]);
  return {
    name: 'Sigma regression cases for Windows with a hit of any detection',
    measured: `${formatRatio(found.size, cases.length)} (${found.size}/${cases.length})`,
  };
}

/** Converts an event to a sample with an id and a time. */
function toSample(event: Record<string, unknown>, id: string): SampleEvent {
  const time = event['@timestamp'] ?? event['TimeCreated'] ?? '2020-01-01T00:00:00Z';
  return { dataset: 'windows', event: { ...event, eventID: id, '@timestamp': time } };
}
