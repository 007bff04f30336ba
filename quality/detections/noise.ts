import { openSampleEngine } from '../../src/demo/sample-engine.ts';
import { generateCompanyLogs } from '../../src/demo/company/company.ts';
import { intrusion } from '../../src/demo/company/intrusion.ts';
import { type Candidate, isSeverityAtLeast } from '../../src/detection/analysis/candidate.ts';
import { loadLibrary } from '../../src/detection/library/load-library.ts';
import type { QualityFigure } from '../figures.ts';
import { naiveDetections, type NaiveDetection } from './noise-detections.ts';
import { measureRecordedNoise } from './noise-recorded.ts';
import { hourMs, readHours, replayHours } from './noise-replay.ts';

/** Not used to choose any number of the analysis. */
const seeds = [11, 12, 13];
/** As much as a new detection reads before its first window. */
const historyHours = 200;
const measuredWeeks = 3;
const benignPerWeekMax = 1;

const companyDatasets = new Set(['auth', 'windows', 'proxy', 'cloudtrail']);
const stageByEvent = new Map(intrusion.flatMap(({ stage, eventIds }) => eventIds.map((id) => [id, stage] as const)));

/** `stages`: the seeds for which a stage was found, and whether at severity medium or above. */
type Tally = { benign: number; severe: number; stages: Map<string, Map<number, boolean>> };

/**
 * Measures how many benign candidates untuned detections raise a week on generated company logs, and which stages of the intrusion they find:
 * detections as a user would first write them, and the shipped ones that compare with the past.
 */
export async function measureNoise(verbose: boolean): Promise<QualityFigure[]> {
  const tallies = new Map<NaiveDetection, Tally>(
    [...naiveDetections, ...listShipped(companyDatasets).filter(comparesWithPast)].map((detection) => [
      detection,
      { benign: 0, severe: 0, stages: new Map<string, Map<number, boolean>>() },
    ]),
  );
  for (const seed of seeds) await measureSeed(seed, tallies, verbose);
  const weeks = seeds.length * measuredWeeks;
  return [
    ...[...tallies].map(([{ name }, tally]) => toFigure(name, tally, weeks)),
    ...intrusion.map(({ stage }) => toStageFigure(stage, tallies)),
    ...(await measureRecordedNoise(naiveDetections)),
  ];
}

const comparesWithPast = ({ category }: NaiveDetection): boolean =>
  category !== 'custom' && category !== 'privilege_escalation';

/** Lists the shipped detections that read no other datasets. */
export function listShipped(datasets: ReadonlySet<string>): NaiveDetection[] {
  return [...loadLibrary().values()]
    .filter((entry) => Object.keys(entry.datasets).every((name) => datasets.has(name)))
    .map(({ id, body }) => ({
      name: `shipped: ${id}`,
      category: body.detectionCategory,
      query: body.detectionQuery,
      entityField: body.entityField ?? null,
    }));
}

async function measureSeed(seed: number, tallies: Map<NaiveDetection, Tally>, verbose: boolean): Promise<void> {
  const end = new Date(Date.UTC(2030, 2, 11 + (seed % 7), 10, 17, 33));
  const hours = historyHours + measuredWeeks * 168;
  const engine = await openSampleEngine(generateCompanyLogs({ end, days: Math.ceil(hours / 24) + 1, seed }));
  const last = Math.floor(end.getTime() / hourMs) * hourMs;
  const rows = await readHours(engine, [...tallies.keys()], { end: last, hours });
  engine.close();
  for (const [detection, list] of rows) {
    const tally = tallies.get(detection)!;
    for (const { from, candidates } of replayHours(detection, list, historyHours))
      for (const candidate of candidates) {
        const isSevere = isSeverityAtLeast(candidate.severity, 'medium');
        addCandidate(tally, { candidate, isSevere, seed });
        if (verbose && isSevere)
          console.log(detection.name, seed, from.toISOString(), candidate.entity, JSON.stringify(candidate.facts));
      }
  }
}

function addCandidate(
  tally: Tally,
  { candidate, isSevere, seed }: { candidate: Candidate; isSevere: boolean; seed: number },
): void {
  const stages = stagesOf(candidate);
  for (const stage of stages) {
    const bySeed = tally.stages.get(stage) ?? new Map<number, boolean>();
    tally.stages.set(stage, bySeed.set(seed, isSevere || bySeed.get(seed) === true));
  }
  if (stages.size > 0) return;
  tally.benign += 1;
  if (isSevere) tally.severe += 1;
}

const stagesOf = ({ rows }: Candidate): Set<string> =>
  new Set(rows.flatMap(({ rowId, eventIds = [] }) => [rowId, ...eventIds].flatMap((id) => stageByEvent.get(id) ?? [])));

function toFigure(name: string, { benign, severe, stages }: Tally, weeks: number): QualityFigure {
  const perWeek = severe / weeks;
  const list = [...stages].map(([stage, bySeed]) => ([...bySeed.values()].every(Boolean) ? stage : `${stage} (low)`));
  return {
    name: `${name}: benign candidates of medium or above per week`,
    measured: `${perWeek.toFixed(2)} (of any severity ${(benign / weeks).toFixed(1)}; stages: ${list.join(', ') || 'none'})`,
    target: `< ${benignPerWeekMax}`,
    isMet: perWeek < benignPerWeekMax,
  };
}

function toStageFigure(stage: string, tallies: Map<NaiveDetection, Tally>): QualityFigure {
  const found = seeds.filter((seed) => [...tallies.values()].some((tally) => tally.stages.get(stage)?.get(seed)));
  return {
    name: `stage ${stage}: found at medium or above by any of them`,
    measured: `${found.length} of ${seeds.length} company logs`,
    target: String(seeds.length),
    isMet: found.length === seeds.length,
  };
}
