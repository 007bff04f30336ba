/** A sample event and the dataset it belongs to. */
export type SampleEvent = { dataset: string; event: Record<string, unknown> };

/**
 * A detection that ships with the project. `query` is DuckDB SQL for the embedded log store. `dataset` is the main dataset it
 * reads. On the `match` and `noMatch` events together, the query finds exactly the sample's `entities`. On the `noMatch` events
 * alone, it finds none. For a baseline, an entity counts as found if its count is above 0, and for a sequence, if it completed
 * every step.
 */
export type BuiltInDetection = {
  id: string;
  name: string;
  description: string;
  category: 'baseline_anomaly' | 'first_occurrence' | 'sequence_pattern' | 'privilege_escalation' | 'custom';
  systemPrompt: string;
  /** Template of the headline of a hit. */
  headline?: string;
  query: string;
  cadence: 'hourly' | 'daily' | 'weekly';
  dataset: string;
  alsoReads?: readonly string[];
  entityField: string;
  timeField?: string;
  suppressionMinutes?: number;
  lookbackMinutes?: number;
  tags: readonly string[];
  sample: {
    match: readonly SampleEvent[];
    noMatch: readonly SampleEvent[];
    entities: readonly string[];
    /** Earlier events for the test cases, if the category needs a history. */
    history?: readonly SampleEvent[];
  };
};
