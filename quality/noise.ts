import { openSampleEngine, type SampleEngine } from '../src/demo/sample-engine.ts';
import { generateCompanyLogs } from '../src/demo/company/company.ts';
import { intrusion } from '../src/demo/company/intrusion.ts';
import type { Candidate } from '../src/detection/analysis/candidate.ts';
import { isSeverityAtLeast } from '../src/detection/analysis/severity.ts';
import type { QualityFigure } from './figures.ts';
import { naiveDetections, type NaiveDetection } from './noise-detections.ts';
import { readHours, replayHours } from './noise-replay.ts';

const hourMs = 3_600_000;
const seeds = [1, 2, 5];
const historyHours = 200;
const hours = 22 * 24;
const days = 23;
const benignPerWeekMax = 1;

const stageByEvent = new Map(intrusion.flatMap(({ stage, eventIds }) => eventIds.map((id) => [id, stage] as const)));

type Tally = { benign: number; severe: number; stages: Map<string, boolean> };

/** Measures how many benign candidates untuned detections raise a week on generated company logs, and which stages of the intrusion they find. */
export async function measureNoise(verbose: boolean): Promise<QualityFigure[]> {
  const tallies = new Map<NaiveDetection, Tally>(
    naiveDetections.map((detection) => [detection, { benign: 0, severe: 0, stages: new Map() }]),
  );
  for (const seed of seeds) {
    const end = new Date(Date.UTC(2030, 2, 11 + (seed % 7), 10, 17, 33));
    const engine = await openSampleEngine(generateCompanyLogs({ end, days, seed }));
    for (const [detection, tally] of tallies) await measureDetection(engine, detection, { end, tally, verbose });
    engine.close();
  }
  const weeks = (seeds.length * (hours - historyHours)) / 168;
  const found = new Map<string, boolean>();
  for (const { stages } of tallies.values())
    for (const [stage, isSevere] of stages) found.set(stage, isSevere || found.get(stage) === true);
  return [
    ...[...tallies].map(([{ name }, tally]) => toFigure(name, tally, weeks)),
    {
      name: 'stages of the intrusion found by any of them (at medium or above)',
      measured: `${found.size} of ${intrusion.length} (${[...found.values()].filter(Boolean).length})`,
      target: `${intrusion.length}`,
      isMet: found.size === intrusion.length,
    },
  ];
}

async function measureDetection(
  engine: SampleEngine,
  detection: NaiveDetection,
  { end, tally, verbose }: { end: Date; tally: Tally; verbose: boolean },
): Promise<void> {
  const last = Math.floor(end.getTime() / hourMs) * hourMs;
  const rows = await readHours(engine, detection.query, last, hours);
  for (const { from, candidates } of replayHours(detection, rows, historyHours)) {
    for (const candidate of candidates) {
      const isSevere = isSeverityAtLeast(candidate.severity, 'medium');
      const stages = stagesOf(candidate);
      for (const stage of stages) tally.stages.set(stage, isSevere || tally.stages.get(stage) === true);
      if (stages.size > 0) continue;
      tally.benign += 1;
      if (!isSevere) continue;
      tally.severe += 1;
      if (verbose) console.log(detection.name, from.toISOString(), candidate.entity, JSON.stringify(candidate.facts));
    }
  }
}

const stagesOf = ({ rows }: Candidate): Set<string> =>
  new Set(rows.flatMap(({ rowId, eventIds = [] }) => [rowId, ...eventIds].flatMap((id) => stageByEvent.get(id) ?? [])));

function toFigure(name: string, { benign, severe, stages }: Tally, weeks: number): QualityFigure {
  const perWeek = severe / weeks;
  const list = [...stages].map(([stage, isSevere]) => (isSevere ? stage : `${stage} (low)`)).join(', ');
  return {
    name: `${name}: benign candidates of medium or above per week`,
    measured: `${perWeek.toFixed(2)} (of any severity ${(benign / weeks).toFixed(1)}; stages: ${list || 'none'})`,
    target: `< ${benignPerWeekMax}`,
    isMet: perWeek < benignPerWeekMax,
  };
}
