import type { CreateDetection } from '../detections/record/detection-input.schema.ts';
import type { TestSet } from '../detections/test-cases/test-cases.schema.ts';
import type { BuiltInDetection, SampleEvent } from './built-in-detection.ts';

/** A shipped detection as a body for create. */
export function toBuiltInBody(shipped: BuiltInDetection): CreateDetection {
  return {
    name: shipped.name,
    description: shipped.description,
    detectionCategory: shipped.category,
    systemPrompt: shipped.systemPrompt,
    detectionQuery: shipped.query,
    detectionCadence: shipped.cadence,
    entityField: shipped.entityField,
    tags: [...shipped.tags],
    ...(shipped.timeField === undefined ? {} : { timeField: shipped.timeField }),
    ...(shipped.suppressionMinutes === undefined ? {} : { suppressionMinutes: shipped.suppressionMinutes }),
    ...(shipped.lookbackMinutes === undefined ? {} : { lookbackMinutes: shipped.lookbackMinutes }),
  };
}

/** Its proof as test cases: what must match among what must not, and what must not alone. */
export function toBuiltInTests({ dataset, alsoReads = [], sample }: BuiltInDetection): TestSet {
  const byDataset = (events: readonly SampleEvent[]) =>
    Object.fromEntries(
      [dataset, ...alsoReads].map((name) => [
        name,
        events.filter((one) => one.dataset === name).map(({ event }) => event),
      ]),
    );
  const history = sample.history ? { history: byDataset(sample.history) } : {};
  return {
    tests: [
      {
        name: 'finds what it is for',
        ...history,
        events: byDataset([...sample.match, ...sample.noMatch]),
        expect: [...sample.entities].toSorted(),
      },
      { name: 'finds nothing in what only looks like it', ...history, events: byDataset(sample.noMatch), expect: [] },
    ],
  };
}
