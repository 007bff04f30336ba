import { builtinDetections } from '../detections/builtin/registry.ts';
import type { BuiltinDetection, SampleEvent } from '../detections/builtin/builtin.ts';
import type { TestCase } from '../detections/test-schema.ts';
import type { Draft } from './draft.ts';
import type { Dataset } from './logs.ts';

export const allShipped: readonly BuiltinDetection[] = Object.values(builtinDetections);

/** Shipped detections, as far as the organization has the logs they read. */
export function readableShipped(datasets: readonly Dataset[]): BuiltinDetection[] {
  const names = new Set(datasets.map(({ name }) => name));
  return allShipped.filter((one) => datasetsOf(one).every((name) => names.has(name)));
}

const datasetsOf = ({ dataset, alsoReads = [] }: BuiltinDetection): string[] => [dataset, ...alsoReads];

/** Technique ids of a shipped detection, as its tags have them. */
export const techniquesOf = ({ tags }: BuiltinDetection): string[] =>
  tags.filter((tag) => tag.startsWith('attack.')).map((tag) => tag.slice('attack.'.length).toUpperCase());

/** A shipped detection as a draft, for one of its techniques if that is known. */
export function shippedDraft(detection: BuiltinDetection, technique: string | null): Draft {
  const { timeField, lookbackMinutes, suppressionMinutes } = detection;
  return {
    key: `shipped:${detection.id}`,
    basis: { kind: 'shipped', id: detection.id },
    technique,
    reads: detection.dataset,
    body: {
      name: detection.name,
      description: detection.description,
      detectionCategory: detection.category,
      systemPrompt: detection.systemPrompt,
      detectionQuery: detection.query,
      detectionCadence: detection.cadence,
      entityField: detection.entityField,
      tags: [...detection.tags],
      ...(timeField === undefined ? {} : { timeField }),
      ...(lookbackMinutes === undefined ? {} : { lookbackMinutes }),
      ...(suppressionMinutes === undefined ? {} : { suppressionMinutes }),
    },
    tests: testsOf(detection),
  };
}

function testsOf(detection: BuiltinDetection): TestCase[] {
  const { match, noMatch, entities } = detection.sample;
  const quiet = { name: 'Leaves what only looks like it alone', events: byDataset(detection, noMatch), expect: [] };
  // Of a baseline one window alone names nobody.
  if (detection.category === 'baseline_anomaly') return [quiet];
  const all = byDataset(detection, [...match, ...noMatch]);
  return [{ name: 'Finds it', events: all, expect: [...entities].toSorted() }, quiet];
}

function byDataset(detection: BuiltinDetection, events: readonly SampleEvent[]): TestCase['events'] {
  return Object.fromEntries(
    datasetsOf(detection).map((name) => [
      name,
      events.filter(({ dataset }) => dataset === name).map(({ event }) => event),
    ]),
  );
}
