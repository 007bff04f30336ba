import { replayWindows } from '../../../quality/detections/noise-replay.ts';
import type { Candidate } from '../../../src/detection/analysis/candidate.ts';
import {
  trafficDays,
  trafficStart,
  trainingDays,
  type InventedTraffic,
  type TrafficAttack,
} from './invented-traffic.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** A drift and its consequences for the baseline end later than the attack. */
const aftermathMs = 2 * dayMs;

export type TrafficAlarm = { candidate: Candidate; cadence: 'hourly' | 'daily'; from: number; to: number };
export type TrafficResult = {
  /** For each attack, its alarms of medium or above, in order. */
  found: { attack: TrafficAttack; alarms: TrafficAlarm[] }[];
  /** The other alarms of medium or above. */
  falseAlarms: TrafficAlarm[];
};

/** Analyzes the traffic of a company with an hourly and a daily baseline of the bytes of each host. */
export function replayTraffic({ hours, attacks }: InventedTraffic): TrafficResult {
  const alarms = (['hourly', 'daily'] as const).flatMap((cadence) => {
    const slotMs = cadence === 'hourly' ? hourMs : dayMs;
    const bySlot = Map.groupBy(hours, ({ at }) => Math.floor((at - trafficStart) / slotMs));
    const windows = Array.from({ length: (trafficDays * dayMs) / slotMs }, (_, index) => {
      const byHost = Map.groupBy(bySlot.get(index) ?? [], ({ host }) => host);
      const rows = [...byHost].map(([host, list]) => ({
        host,
        value: list.reduce((sum, { bytes }) => sum + bytes, 0),
      }));
      const from = trafficStart + index * slotMs;
      return { from: new Date(from), to: new Date(from + slotMs), rows };
    });
    const definition = { category: 'baseline_anomaly', query: cadence, entityField: 'host', cadence, slotMs } as const;
    return replayWindows(definition, windows, (trainingDays * dayMs) / slotMs).flatMap(({ from, candidates }) =>
      candidates
        .filter(({ severity }) => severity !== 'low')
        .map((candidate) => ({ candidate, cadence, from: from.getTime(), to: from.getTime() + slotMs })),
    );
  });
  const isOf = ({ candidate, from, to }: TrafficAlarm, attack: TrafficAttack): boolean =>
    candidate.entity === attack.host && to > attack.from && from < attack.to + aftermathMs;
  return {
    found: attacks.map((attack) => ({
      attack,
      alarms: alarms.filter((alarm) => isOf(alarm, attack)).toSorted((a, b) => a.to - b.to),
    })),
    falseAlarms: alarms.filter((alarm) => !attacks.some((attack) => isOf(alarm, attack))),
  };
}
