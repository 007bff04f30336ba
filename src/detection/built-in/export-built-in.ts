import type { CreateDetection } from '../detections/record/detection-input.schema.ts';
import type { TestSet } from '../detections/test-cases/test-cases.schema.ts';
import type { BuiltInDetection, SampleEvent } from './built-in-detection.ts';

/** Returns the create body of a shipped detection. */
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
    ...(shipped.headline === undefined ? {} : { headline: shipped.headline }),
    ...(shipped.timeField === undefined ? {} : { timeField: shipped.timeField }),
    ...(shipped.suppressionMinutes === undefined ? {} : { suppressionMinutes: shipped.suppressionMinutes }),
    ...(shipped.lookbackMinutes === undefined ? {} : { lookbackMinutes: shipped.lookbackMinutes }),
  };
}

/** Returns the sample as two test cases: all events, and only the events that must not match. */
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
        name: 'finds the matching events',
        ...history,
        events: byDataset([...sample.match, ...sample.noMatch]),
        expect: [...sample.entities].toSorted(),
      },
      { name: 'finds nothing in similar benign events', ...history, events: byDataset(sample.noMatch), expect: [] },
    ],
  };
}
