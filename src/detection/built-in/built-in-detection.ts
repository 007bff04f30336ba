/** An event of a shipped proof, in the dataset that it would arrive in. */
export type SampleEvent = { dataset: string; event: Record<string, unknown> };

/**
 * A detection that ships with the project. `query` is DuckDB SQL for the embedded log store; `dataset` is the one it mainly reads.
 * `sample` is its proof: over `match` and `noMatch` together the query names exactly `entities`, over `noMatch` alone none. Where the
 * category looks at history, a row alone names nobody: of a baseline those with a count above 0 stand, of a sequence those that completed it.
 */
export type BuiltInDetection = {
  id: string;
  name: string;
  description: string;
  category: 'baseline_anomaly' | 'first_occurrence' | 'sequence_pattern' | 'privilege_escalation' | 'custom';
  systemPrompt: string;
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
    /** What its test cases have before that, where the category cannot do without. */
    history?: readonly SampleEvent[];
  };
};
