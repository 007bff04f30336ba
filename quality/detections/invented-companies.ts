import { generateTraffic, trafficDays, trainingDays } from '../../test/support/detection/invented-traffic.ts';
import { replayTraffic, type TrafficAlarm } from '../../test/support/detection/invented-traffic-replay.ts';
import type { QualityFigure } from '../figures.ts';

const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
const hourMs = 3_600_000;
const slowKinds = new Set(['drip', 'slow']);
const falsePerWeekMax = 1;

/**
 * Measures an hourly and a daily baseline on invented companies of different sizes, weekends, shifts, noise, laptops, jobs and outages, each with an
 * attack of every kind.
 */
export function measureInventedCompanies(verbose: boolean): QualityFigure[] {
  const results = seeds.map((seed) => {
    const traffic = generateTraffic(seed);
    const result = replayTraffic(traffic);
    if (verbose) {
      console.log('company', seed, traffic.note);
      for (const { attack, alarms } of result.found)
        console.log('attack', attack.kind, attack.host, describe(alarms[0]));
      for (const alarm of result.falseAlarms) console.log('FALSE', describe(alarm));
    }
    return result;
  });
  const weeks = (seeds.length * (trafficDays - trainingDays)) / 7;
  const attacks = Map.groupBy(
    results.flatMap(({ found }) => found),
    ({ attack }) => attack.kind,
  );
  return [
    ...[...attacks].map(([kind, list]) => {
      const withinMs = (slowKinds.has(kind) ? 72 : 24) * hourMs;
      const found = list.filter(
        ({ attack, alarms }) => alarms[0] !== undefined && alarms[0].to - attack.from <= withinMs,
      );
      return {
        name: `invented companies: ${kind} found at medium or above within ${withinMs / hourMs} h`,
        measured: `${found.length} of ${list.length}`,
        target: String(list.length),
        isMet: found.length === list.length,
      };
    }),
    ...(['hourly', 'daily'] as const).map((cadence) => {
      const count = results
        .flatMap(({ falseAlarms }) => falseAlarms)
        .filter((alarm) => alarm.cadence === cadence).length;
      return {
        name: `invented companies: false candidates of medium or above per week, ${cadence}`,
        measured: (count / weeks).toFixed(2),
        target: `≤ ${falsePerWeekMax}`,
        isMet: count / weeks <= falsePerWeekMax,
      };
    }),
  ];
}

function describe(alarm: TrafficAlarm | undefined): string {
  if (!alarm) return 'missed';
  const { entity, severity, facts } = alarm.candidate;
  return [alarm.cadence, new Date(alarm.from).toISOString(), entity, severity, JSON.stringify(facts)].join(' ');
}
