import { type Candidate, findMaxSeverity, isSeverityAtLeast } from '../../src/detection/analysis/candidate.ts';
import { runAtOnce } from '../../src/platform/lib/concurrency/slices.ts';
import { chooseSimilar, listNarrowings } from '../../src/detection/detections/exceptions/narrowings.ts';
import type { QualityFigure } from '../figures.ts';
import { readRecordedJson, readRecordedRows } from '../recorded-inputs.ts';
import { replayWindows } from './noise-replay.ts';
import { measureInventedCompanies } from './invented-companies.ts';
import {
  dayMs,
  hourMs,
  scenarioDetections,
  scenarioFiles,
  type ScenarioDetection,
  type ScenarioEvent,
  type ScenarioFile,
} from './scenario-detections.ts';

export type Wanted = { kind: string; entity: string; at: string };
export type Alarm = Candidate & {
  detection: ScenarioDetection;
  from: number;
  to: number;
};

const testFrom = Date.parse('2026-10-28T00:00:00Z');
/** The web requests begin later than the other files. Their first days are the history. */
const historyFrom: Partial<Record<ScenarioFile, number>> = { proxy: Date.parse('2026-11-20T00:00:00Z') };
const falsePerWeekMax = 1;

type Kind = { file: ScenarioFile; withinMs: number; lastsMs: number };
const within = (file: ScenarioFile, days = 1, lastsDays = 1): Kind => ({
  file,
  withinMs: days * dayMs,
  lastsMs: lastsDays * dayMs,
});
/** For each kind of attack, when it must be found and how long it lasts at most. What is found in that time is no false alarm. */
const kinds: Record<string, Kind> = {
  travel: within('auth'),
  spray: within('auth'),
  'spray-user': within('auth'),
  slowspray: within('auth'),
  brute: within('auth'),
  adminapi: within('api'),
  burst: within('net'),
  weekend: within('net', 2, 2),
  night: within('net'),
  drip: within('net', 3, 12),
  slowexfil: within('net', 3, 12),
  beacon: within('proxy'),
};

/**
 * Replays 44 days of an invented company through the analysis, window by window, and compares the candidates with the attacks that are known to
 * be in them.
 */
export async function measureScenarios(verbose: boolean): Promise<QualityFigure[]> {
  const { wanted, alarms, weeks } = replayScenarios();
  const isWanted = (alarm: Alarm): boolean => wanted.some((attack) => isAlarmOf(alarm, attack));
  if (verbose) for (const list of alarms.values()) for (const alarm of list) print(alarm, isWanted(alarm));
  return [
    ...[...Map.groupBy(wanted, ({ kind }) => kind)].map(([kind, attacks]) =>
      toKindFigure(kind, attacks, [...alarms.values()].flat()),
    ),
    ...[...alarms].map(([detection, list]) =>
      toFalseFigure(
        `${detection.category}: ${detection.name}`,
        list.filter((alarm) => !isWanted(alarm)),
        weeks.get(detection)!,
      ),
    ),
    ...measureNarrowings([...alarms.values()], isWanted),
    ...measureInventedCompanies(verbose),
  ];
}

/** Replays the scenarios. Returns the attacks, and the candidates and the weeks of each detection. */
export function replayScenarios(): {
  wanted: Wanted[];
  alarms: Map<ScenarioDetection, Alarm[]>;
  weeks: Map<ScenarioDetection, number>;
} {
  const wanted = readRecordedJson<Wanted[]>('scenarios/truth.json');
  const alarms = new Map<ScenarioDetection, Alarm[]>();
  const weeks = new Map<ScenarioDetection, number>();
  for (const file of scenarioFiles) {
    const events = readEvents(file);
    for (const detection of scenarioDetections.filter((one) => one.file === file)) {
      const from = historyFrom[file] ?? testFrom;
      alarms.set(detection, replay(detection, events, from));
      weeks.set(detection, (events.at(-1)!.time - from) / (7 * dayMs));
    }
  }
  return { wanted, alarms, weeks };
}

function readEvents(file: ScenarioFile): ScenarioEvent[] {
  return readRecordedRows<Record<string, string | number>>(`scenarios/${file}.ndjson.gz`)
    .map((values, index) => ({ id: `${file}-${index}`, time: Date.parse(String(values['timestamp'])), values }))
    .toSorted((a, b) => a.time - b.time);
}

function replay(detection: ScenarioDetection, events: readonly ScenarioEvent[], testStart: number): Alarm[] {
  const { slotMs } = detection;
  const slotOf = (time: number): number => Math.floor(time / slotMs);
  const bySlot = Map.groupBy(events, ({ time }) => slotOf(time));
  const first = slotOf(events[0]!.time);
  const last = slotOf(events.at(-1)!.time);
  const windows = Array.from({ length: last - first + 1 }, (_, index) => ({
    from: new Date((first + index) * slotMs),
    to: new Date((first + index + 1) * slotMs),
    rows: detection.toRows(bySlot.get(first + index) ?? []),
  }));
  const cadence = slotMs === hourMs ? '0 * * * *' : '0 0 * * *';
  const definition = { ...detection, query: detection.name, cadence };
  return replayWindows(definition, windows, slotOf(testStart) - first).flatMap(({ from, candidates }) =>
    candidates.map((candidate) => ({
      ...candidate,
      detection,
      from: from.getTime(),
      to: from.getTime() + slotMs,
    })),
  );
}

/** Returns whether an alarm is about an attack. The time of an attack can be that of its last step. */
export function isAlarmOf({ detection, entity, from, to }: Alarm, attack: Wanted): boolean {
  const { file, lastsMs } = kinds[attack.kind]!;
  const at = Date.parse(attack.at);
  return detection.file === file && entity === attack.entity && to > at - dayMs && from < at + lastsMs;
}

const isSevere = ({ severity }: Pick<Alarm, 'severity'>): boolean => isSeverityAtLeast(severity, 'medium');

function toKindFigure(kind: string, attacks: Wanted[], alarms: readonly Alarm[]): QualityFigure {
  const { withinMs } = kinds[kind]!;
  const results = attacks.map((attack) => {
    const own = alarms.filter((alarm) => isAlarmOf(alarm, attack)).toSorted((a, b) => a.to - b.to);
    const first = own.find(isSevere);
    const delayMs = first === undefined ? Infinity : Math.max(first.to - Date.parse(attack.at), 0);
    return { attack, own, first, delayMs };
  });
  const found = results.filter(({ delayMs }) => delayMs <= withinMs);
  const describe = ({ attack, own, first, delayMs }: (typeof results)[number]): string => {
    if (!first) return `${attack.entity} ${own.length > 0 ? 'low only' : 'missed'}`;
    const most = findMaxSeverity(own.map(({ severity }) => severity));
    return `${attack.entity} ${most} after ${(delayMs / hourMs).toFixed(1)} h`;
  };
  return {
    name: `${kind}: found at medium or above within ${withinMs / hourMs} h`,
    measured: `${found.length} of ${attacks.length} (${results.map(describe).join(', ')})`,
    target: String(attacks.length),
    isMet: found.length === attacks.length,
  };
}

function toFalseFigure(name: string, alarms: Alarm[], weeks: number): QualityFigure {
  const perWeek = alarms.filter(isSevere).length / weeks;
  return {
    name: `${name}: false candidates of medium or above per week`,
    measured: `${perWeek.toFixed(2)} (of any severity ${(alarms.length / weeks).toFixed(1)})`,
    target: `≤ ${falsePerWeekMax}`,
    isMet: perWeek <= falsePerWeekMax,
  };
}

const alikeCount = 6;

/**
 * Proposes exceptions for six false alarms of each detection that are alike. The attacks are not marked as true positives, so that nothing but the choice
 * of conditions keeps them.
 */
function measureNarrowings(lists: readonly Alarm[][], isWanted: (alarm: Alarm) => boolean): QualityFigure[] {
  const results = lists.flatMap((list) => {
    const [attacks, falseAlarms] = [list.filter(isWanted), list.filter((alarm) => !isWanted(alarm))];
    const chosen = new Set(chooseSimilar(falseAlarms, attacks).slice(0, alikeCount));
    if (chosen.size < alikeCount) return [];
    const past = list.map((alarm) => ({ ...alarm, isChosen: chosen.has(alarm), mustStay: false }));
    const [first] = runAtOnce(listNarrowings(past, { proofs: [], lists: new Map() }));
    const hidden = first?.hidden.filter(isWanted).length ?? 0;
    return [{ name: list[0]!.detection.name, rule: first?.rule, attacks: attacks.length, hidden }];
  });
  const describe = ({ name, rule }: (typeof results)[number]): string =>
    `${name}: ${rule ? (rule.entity ?? `${rule.field} = ${rule.value}`) : 'none'}`;
  const offered = results.filter(({ rule }) => rule !== undefined);
  const sum = (field: 'attacks' | 'hidden'): number => offered.reduce((total, one) => total + one[field], 0);
  return [
    {
      name: 'exceptions for six false alarms that are alike: alarms of attacks that the first one hides',
      measured: `${sum('hidden')} of ${sum('attacks')}, ${offered.length} of ${results.length} detections with an exception (${results.map(describe).join(', ')})`,
      target: '0',
      isMet: sum('hidden') === 0 && offered.length > 0,
    },
  ];
}

function print({ detection, from, entity, severity, facts }: Alarm, isAttack: boolean): void {
  if (!isAttack && severity === 'low') return;
  const time = new Date(from).toISOString().slice(0, 16);
  console.log(isAttack ? 'attack' : 'FALSE', detection.name, time, entity, severity, JSON.stringify(facts));
}
